# SPDX-License-Identifier: Apache-2.0
# Installing and packing.
PREFIX  ?= /usr/local
DESTDIR ?=
# one word of the shell, whatever the line holds
quote = '$(subst ','\'',$(1))'
I = $(call quote,$(DESTDIR)$(PREFIX))
# Man pages are made from the help texts. An installation goes without them where help2man is missing.
HELP2MAN = $(shell command -v help2man)
man_pages = ci/man_page.sh $(BUILD)/bin/assay $(VERSION) $(BUILD)/man
man: all ## write the man pages below build/man, with help2man
	$(say)$(man_pages)
install: all ## install to PREFIX (/usr/local) below DESTDIR
	@$(MAKE) --no-print-directory install-files
install-files:
	install -d $(I)/bin $(I)/lib/assay/plugins $(I)/lib/pkgconfig $(I)/include/assay $(I)/share/man/man1 \
		$(I)/share/assay/bench/suites $(I)/share/assay/bench/groups $(I)/share/assay/baselines/exact \
		$(I)/share/assay/templates $(I)/share/bash-completion/completions $(I)/share/zsh/site-functions \
		$(I)/share/fish/vendor_completions.d
	install -m 755 $(BUILD)/bin/assay $(I)/bin/
	install -m 755 ci/gate.sh $(I)/bin/assay-gate
	install -m 755 $(PLUGINS) $(I)/lib/assay/plugins/
	$(if $(KERNEL_COSTS),install -m 644 $(KERNEL_COSTS) $(I)/lib/assay/plugins/)
	$(if $(HEAP_LIB) $(GPU_LIB),install -m 755 $(HEAP_LIB) $(THREADS_LIB) $(GPU_LIB) $(I)/lib/assay/)
	install -m 644 harness/include/assay/*.h $(I)/include/assay/
	{ printf 'prefix=%s\n' $(call quote,$(PREFIX)); sed 's|@VERSION@|$(VERSION)|' harness/cli/assay.pc.in; } > $(I)/lib/pkgconfig/assay.pc
	$(if $(HELP2MAN),$(man_pages) && install -m 644 $(BUILD)/man/*.1 $(I)/share/man/man1/,@echo 'no help2man: the man pages are left out')
	install -m 644 harness/cli/completion/assay.bash $(I)/share/bash-completion/completions/assay
	install -m 644 harness/cli/completion/_assay $(I)/share/zsh/site-functions/
	install -m 644 harness/cli/completion/assay.fish $(I)/share/fish/vendor_completions.d/
	install -m 644 bench/*.bench $(I)/share/assay/bench/
	install -m 644 bench/suites/*.suite $(I)/share/assay/bench/suites/
	install -m 644 bench/groups/*.group $(I)/share/assay/bench/groups/
	install -m 644 baselines/*.* $(I)/share/assay/baselines/
	install -m 644 baselines/exact/*.json $(I)/share/assay/baselines/exact/
	install -m 644 ci/templates/*.yml $(I)/share/assay/templates/

# The committed tree, with a file that says what git would: the version, the commit, its time, and who packs it.
DIST := $(BUILD)/assay-$(VERSION).tar.xz
dist: ## write a source archive of the last commit, which builds without git
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=assay-$(VERSION)/ --add-virtual-file=assay-$(VERSION)/.version:"$$(echo '$(VERSION)' \
		"$$(git log -1 --format='%H %ct %an <%ae>')")" HEAD | xz > $(DIST)
deb: dist ## build Debian packages of the last commit in build/deb
	@NVCC='$(NVCC)' ci/deb.sh $(DIST) $(BUILD)/deb

# SPDX-License-Identifier: Apache-2.0
# Pages, flame graphs and pictures, which the program carries as C strings.
$(BUILD)/obj/reports/%.o: reports/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say)$(CC) $(HARNESS_CFLAGS) -c -o $@ $<

# The page of `assay report`, as C strings: its scripts are one text, in this order.
FLAME := reports/profile/flame/flame.css reports/profile/flame/timeline.css reports/profile/flame/flame.js
PAGE := $(addprefix reports/page/web/,head.html page.html page.css words.js pictures.js table.js parts.js run_page.js comparison_page.js fleet_page.js) \
	$(FLAME) reports/page/web/page.js
$(BUILD)/gen/report_page.h: reports/page/web/embed.sh harness/drive/author/templates/embed.awk $(PAGE)
	@mkdir -p $(@D)
	$(say)reports/page/web/embed.sh $(@D)/report_page $(PAGE) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/page/template.o: $(BUILD)/gen/report_page.h

# The page of a profile, as C strings.
PROFILE_PAGE := reports/page/web/head.html reports/profile/flame/profile.html reports/page/web/page.css $(FLAME) reports/profile/flame/all_graphs.js
$(BUILD)/gen/profile_page.h: reports/page/web/embed.sh harness/drive/author/templates/embed.awk $(PROFILE_PAGE)
	@mkdir -p $(@D)
	$(say)reports/page/web/embed.sh $(@D)/profile_page $(PROFILE_PAGE) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/profile/html.o: $(BUILD)/gen/profile_page.h

# Style and script of flame graphs, as C strings.
$(BUILD)/gen/flame_files.h: harness/drive/author/templates/embed.awk $(FLAME)
	@mkdir -p $(@D)
	$(say)awk -f $< $(FLAME) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/profile/flame_svg.o: $(BUILD)/gen/flame_files.h

# The programs for gnuplot, as C strings.
GNUPLOT := $(sort $(wildcard reports/plot/gnuplot/*.gp))
$(BUILD)/gen/plot_programs.h: harness/drive/author/templates/embed.awk $(GNUPLOT)
	@mkdir -p $(@D)
	$(say)awk -f $< $(GNUPLOT) > $@.tmp && mv $@.tmp $@
$(BUILD)/obj/reports/plot/program.o: $(BUILD)/gen/plot_programs.h

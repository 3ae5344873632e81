/* SPDX-License-Identifier: Apache-2.0 */
/* Names in the source of symbols of C++ and Rust, without what c++filt prints of parameters and results. */
#include "unit.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/text.h"

TEST(names_are_those_of_the_source)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{ "main", NULL },
		{ "", NULL },
		{ "_Zbad", NULL },
		{ "_RNvNtNtCsgEmfK2I1SDS_4core3str5count14do_count_chars", NULL },
		{ "_ZN2ns5TableIlE5countERKSt6vectorIiSaIiEE", "ns::Table<long>::count" },
		{ "_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size" },
		{ "_Z3fooIiEvT_", "foo<int>" },
		{ "_Znwm", "operator new" },
		{ "_ZlsRSoRK3Foo", "operator<<" },
		{ "_ZN3FoocvbEv", "Foo::operator bool" },
		{ "_ZN3FooclEi", "Foo::operator()" },
		{ "_ZNKSt8functionIFviEEclEi", "std::function<void (int)>::operator()" },
		{ "_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()" },
		{ "_ZN12_GLOBAL__N_13barEi", "(anonymous namespace)::bar" },
		{ "_Z3foov.constprop.0", "foo.constprop.0" },
		{ "_ZTV3Foo", "vtable for Foo" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.12", "core::fmt::Write::write_fmt.llvm.12" },
		{ "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h0123456789abcdefE",
		  "<T as core::convert::Into<U>>::into" },
	};

	if (!dlopen("libstdc++.so.6", RTLD_LAZY))
		skip();
	for (size_t i = 0; i < N_OF(cases); i++) {
		char *name = assay_demangle(cases[i].symbol);

		assert_int_equal(!name, !cases[i].name);
		if (name)
			assert_string_equal(name, cases[i].name);
		free(name);
	}
}

UNIT_GROUP(NULL, NULL)

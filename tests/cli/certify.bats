#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# certify: how often the judge is wrong, counted, and the smallest change that it finds.
load compare_helpers

@test "certify --json has every field that is promised, and its counts add up" {
	command_of certify "$PLUGINS/compare_base.so" --suite quick --policy wide.conf --gates 3 --trials 1 --budget 5s --json
	[ "$status" = 0 ]
	is '.schema == 1 and .gates == 3 and .false_alarms == 0 and .passed + .inconclusive + .false_alarms == .gates'
	is '(.power | map(.slowdown)) == [0.005, 0.01, 0.02, 0.05]'
	is '[.power[] | has("slowdown") and has("detected") and .of == 1 and .detected + .passed <= 1] | all'
	is '.smallest_detectable > .margin and .margin == 0.2 and .alpha == 0.01'
	# Clopper and Pearson for 0 of 3
	is '.false_alarm_ci[0] == 0 and (.false_alarm_ci[1] - 0.7076 | fabs) < 0.0001'
	# far within the margin
	is '[.power[].detected] == [0, 0, 0, 0]'
	is '.seconds_per_case > 0 and .pairs_per_case >= 5 and .cases == ["lenient.triple/work/n=1024/t=1/warm"]'
}

@test "a slowdown far beyond the margin does not pass" {
	command_of certify "$PLUGINS/compare_base.so" --suite quick --margin 0.1% --gates 1 --trials 1 --budget 1s --json
	is '.power[3] | .passed == 0'
}

@test "the slower control of a kernel too slow for extra calls is stretched by time" {
	command_of compare "$PLUGINS/compare_base.so" "$PLUGINS/compare_base.so" --suite long --margin 10% --budget 5s --json
	[ "$status" = 0 ]
	is '.controls.items[] | select(.kind == "slower") | .injected == 0.4 and (.ratio == null or .ratio > 1.1) and .verdict != "PASS"'
}

@test "certify prints the promise and what was seen, without trials, too" {
	command_of certify "$PLUGINS/compare_base.so" --suite quick --policy wide.conf --gates 1 --trials 0 --budget 5s
	[ "$status" = 0 ]
	[[ $output == *"promise  at most 1 % of gates of unchanged code fail; margin 20 %"* ]]
	[[ $output == *"unchanged code: false alarms"*"0 of 1 "* ]]
	[[ $output != *"+0.5 %"* ]]
	# one pair has no spread
	command_of certify "$PLUGINS/compare_base.so" --suite quick --policy wide.conf --gates 1 --trials 0 --budget 1us --json
	[ "$status" = 0 ]
	is '.pair_sd == null and .smallest_detectable == null'
}

@test "certify refuses what it cannot certify with" {
	fails 2 "--gates" certify --gates 0
	fails 2 "--db" certify --db x.db
	fails 2 "--trials" certify --trials x
	fails 2 "--budget" certify --budget 0
	fails 2 "--slowdown" certify --slowdown 1%,
	fails 2 "--slowdown" certify --slowdown 0
	fails 2 "--slowdown" certify --slowdown 1%,1%,1%,1%,1%,1%,1%,1%,1%
	fails 2 "unexpected argument 'b.so'" certify a.so b.so
	command_of certify "$PLUGINS/compare_crash.so" --suite quick --policy wide.conf --gates 1 --trials 0
	[ "$status" = 2 ]
	[[ $stderr == *"cannot certify with 'lenient.triple/work/n=1024/t=1/warm'"*SIGSEGV* ]]
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of the plugin ABI, pinned: a plugin compiled against version 1.0 must fit every later 1.x. */
#include "unit.h"
#include "assay/plugin.h"

#define PIN(s, member, want)                                                                                           \
	{                                                                                                              \
#s "." #member, offsetof(struct s, member), want                                                       \
	}
#define PIN_SIZE(s, want)                                                                                              \
	{                                                                                                              \
		"sizeof " #s, sizeof(struct s), want                                                                   \
	}

/* Numbers on 64-bit machines. A later 1.x adds lines; only sizes grow. */
static const struct {
	const char *what;
	size_t is, want;
} pins[] = {
	PIN(assay_plugin, magic, 0),
	PIN(assay_plugin, abi_major, 4),
	PIN(assay_plugin, abi_minor, 6),
	PIN(assay_plugin, size, 8),
	PIN(assay_plugin, name, 16),
	PIN(assay_plugin, ops, 32),
	PIN(assay_plugin, variants, 40),
	PIN(assay_plugin, devices, 48),
	PIN(assay_plugin, n_ops, 56),
	PIN(assay_plugin, op_stride, 68),
	PIN(assay_plugin, device_stride, 76),
	PIN_SIZE(assay_plugin, 80),
	PIN(assay_op, name, 0),
	PIN(assay_op, axes, 16),
	PIN(assay_op, n_axes, 24),
	PIN(assay_op, axis_stride, 28),
	PIN(assay_op, flags, 32),
	PIN(assay_op, metrics, 40),
	PIN(assay_op, counters, 56),
	PIN(assay_op, composes, 64),
	PIN(assay_op, driver, 72),
	PIN(assay_op, describe, 80),
	PIN(assay_op, fill, 88),
	PIN(assay_op, check, 96),
	PIN(assay_op, report, 104),
	PIN(assay_op, release, 112),
	PIN(assay_op, measures, 120),
	PIN(assay_op, respond, 128),
	PIN_SIZE(assay_op, 136),
	PIN(assay_prompt, tokens, 8),
	PIN(assay_prompt, emit, 32),
	PIN(assay_prompt, n_known, 48),
	PIN(assay_prompt, enough, 56),
	PIN_SIZE(assay_prompt, 64),
	PIN(assay_variant, op, 0),
	PIN(assay_variant, name, 8),
	PIN(assay_variant, needs, 24),
	PIN(assay_variant, device_kind, 32),
	PIN(assay_variant, flags, 36),
	PIN(assay_variant, supports, 40),
	PIN(assay_variant, prepare, 48),
	PIN(assay_variant, run, 56),
	PIN(assay_variant, release, 64),
	PIN(assay_variant, bytes_read, 72),
	PIN_SIZE(assay_variant, 80),
	PIN(assay_job, host, 8),
	PIN(assay_job, shape, 24),
	PIN(assay_job, tensors, 32),
	PIN(assay_job, seed, 40),
	PIN(assay_job, n_threads, 48),
	PIN(assay_job, device_kind, 52),
	PIN(assay_job, device, 56),
	PIN(assay_job, stream, 64),
	PIN(assay_job, op_state, 72),
	PIN(assay_job, state, 80),
	PIN(assay_job, kernel, 88),
	PIN(assay_job, counters, 96),
	PIN_SIZE(assay_job, 104),
	PIN(assay_host, abi_major, 4),
	PIN(assay_host, parallel, 8),
	PIN(assay_host, barrier, 16),
	PIN(assay_host, alloc, 24),
	PIN(assay_host, release, 32),
	PIN(assay_host, fail, 40),
	PIN(assay_host, metric, 48),
	PIN(assay_host, now_ns, 56),
	PIN(assay_host, part, 64),
	PIN(assay_host, fallback, 72),
	PIN(assay_host, span, 80),
	PIN(assay_host, observe, 88),
	PIN_SIZE(assay_host, 96),
	PIN(assay_shape, n_threads, 4),
	PIN(assay_shape, host, 8),
	PIN(assay_shape, axis, 16),
	PIN_SIZE(assay_shape, 80),
	PIN_SIZE(assay_axis, 48),
	PIN(assay_host_info, vector_bits, 40),
	PIN_SIZE(assay_host_info, 48),
	PIN(assay_tensor_spec, filled, 56),
	PIN(assay_tensor_spec, filled_stream, 60),
	PIN(assay_tensor_spec, filled_scale, 64),
	PIN_SIZE(assay_tensor_spec, 88),
	PIN_SIZE(assay_tensor, 48),
	PIN_SIZE(assay_cost, 80),
	PIN(assay_problem, tensors, 8),
	PIN(assay_problem, cost, 2824),
	PIN(assay_problem, extra_bytes, 2904),
	PIN_SIZE(assay_problem, 2912),
	PIN(assay_check, deviates, 288),
	PIN(assay_check, deviation, 296),
	PIN_SIZE(assay_check, 552),
	PIN(assay_metric_def, better, 24),
	PIN(assay_metric_def, kind, 28),
	PIN(assay_metric_def, lo, 32),
	PIN_SIZE(assay_metric_def, 48),
	PIN_SIZE(assay_reason, 256),
	PIN(assay_device_ops, count, 16),
	PIN(assay_device_ops, open, 24),
	PIN(assay_device_ops, upload, 64),
	PIN(assay_device_ops, timer_read_ns, 112),
	PIN(assay_device_ops, info, 120),
	PIN(assay_device_ops, memory, 128),
	PIN(assay_device_ops, fault, 136),
	PIN(assay_device_ops, pin_alloc, 144),
	PIN(assay_device_ops, fill, 160),
	PIN(assay_device_ops, state, 168),
	PIN(assay_device_ops, launch, 176),
	PIN(assay_device_ops, wait, 184),
	PIN(assay_device_ops, hold, 192),
	PIN(assay_device_ops, let_go, 200),
	PIN(assay_device_ops, make, 208),
	PIN_SIZE(assay_device_ops, 216),
	PIN(assay_device_info, name, 8),
	PIN(assay_device_info, uuid, 104),
	PIN(assay_device_info, runtime, 264),
	PIN(assay_device_info, memory_bytes, 312),
	PIN(assay_device_info, core_hz_max, 328),
	PIN(assay_device_info, ecc, 348),
	PIN(assay_device_info, pcie_lanes, 360),
	PIN_SIZE(assay_device_info, 392),
	PIN(assay_device_state, throttle, 4),
	PIN(assay_device_state, celsius, 24),
	PIN_SIZE(assay_device_state, 72),
};

TEST(layout_is_as_in_1_0)
{
	for (size_t i = 0; i < N_OF(pins); i++)
		if (pins[i].is != pins[i].want)
			fail_msg("%s is %zu, was %zu", pins[i].what, pins[i].is, pins[i].want);
}

TEST(values_are_as_in_1_0)
{
	assert_int_equal(0x59415341, ASSAY_PLUGIN_MAGIC);
	assert_string_equal("assay_plugin_v1", ASSAY_PLUGIN_SYMBOL);
	assert_int_equal(1, ASSAY_ABI_MAJOR);
	assert_int_equal(1, ASSAY_U8);
	assert_int_equal(9, ASSAY_U32);
	assert_int_equal(3, ASSAY_SCRATCH);
	assert_int_equal(2, ASSAY_ARITH_I8);
	assert_int_equal(3, ASSAY_ARITH_TERNARY);
	assert_int_equal(2, ASSAY_DEVICE_OTHER);
	assert_int_equal(2, ASSAY_VARIANT_REFERENCE);
	assert_int_equal(1, ASSAY_OP_EXACT);
	assert_int_equal(4, ASSAY_MEASURES_PEAK);
	assert_int_equal(2, ASSAY_MODE_ON);
	assert_int_equal(8, ASSAY_THROTTLE_OTHER);
	assert_int_equal(3, ASSAY_FAULT_LOST);
}

UNIT_GROUP(NULL, NULL)

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device tells of itself: facts that decide its speed, its state of the moment, and the class of a failure. Part
 * of the plugin ABI (see plugin.h): structures only grow at their end, and zero is "unknown" in every member.
 */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <stdint.h>

/* Whether something is on, where it may be unknown. */
enum assay_device_mode {
	ASSAY_MODE_UNKNOWN = 0,
	ASSAY_MODE_OFF = 1,
	ASSAY_MODE_ON = 2,
};

/*
 * One device, as its machine's fingerprint has it: what changes by itself while it runs is in struct assay_device_state.
 * The caller clears it and sets `size` to its own sizeof; the plugin writes no member beyond that.
 */
struct assay_device_info {
	uint32_t size;
	uint32_t compute_units; /* streaming multiprocessors */
	char name[96];          /* "NVIDIA H200" */
	char uuid[48];          /* of this very piece: "GPU-…", "MIG-…" */
	char pci[32];           /* "0000:3b:00.0" */
	char arch[32];          /* compute capability: "sm_90" */
	char driver[48];        /* "570.86.15 (CUDA 12.8)" */
	char runtime[48];       /* that the plugin was built with: "CUDA 12.4" */
	uint64_t memory_bytes;
	uint64_t l2_bytes;
	uint64_t core_hz_max; /* highest clock of the streaming multiprocessors */
	uint64_t memory_hz_max;
	uint32_t memory_bits;                 /* width of the memory's bus */
	uint32_t ecc, mig;                    /* enum assay_device_mode */
	uint32_t pcie_generation, pcie_lanes; /* of the link at its best: an idle one may be slower */
	uint32_t reserved[7];
};

/* Why a device holds its clocks down. */
enum assay_device_throttle {
	ASSAY_THROTTLE_POWER = 1u << 0,   /* a limit of power */
	ASSAY_THROTTLE_THERMAL = 1u << 1, /* it is too hot */
	ASSAY_THROTTLE_BRAKE = 1u << 2,   /* hardware pulls the clocks down: power brake, failing supply */
	ASSAY_THROTTLE_OTHER = 1u << 3,
};

/* How a device is at this moment. Cleared by the caller, `size` as above. */
struct assay_device_state {
	uint32_t size;
	uint32_t throttle; /* enum assay_device_throttle */
	uint64_t core_hz, memory_hz;
	double celsius, watts;
	uint64_t reserved[4];
};

/* What a failure means for what comes after it. */
enum assay_device_fault {
	ASSAY_FAULT_NONE = 0,   /* the device works, nothing failed */
	ASSAY_FAULT_MEMORY = 1, /* out of device memory; all else works on */
	ASSAY_FAULT_STICKY =
		2,            /* a kernel faulted: nothing works in this process any more, but in another one it does */
	ASSAY_FAULT_LOST = 3, /* the device is gone, for every process */
	ASSAY_FAULT_OTHER = 4,
};

#endif

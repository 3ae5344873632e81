// SPDX-License-Identifier: Apache-2.0
// The turns of the emulated threads. ASSAY_EMULATOR_ORDER=last begins each round with the last one of a block: what
// lacks a barrier gives other results then.
#include <cuda_runtime.h>

#include <cstdio>
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <ucontext.h>
#include <vector>

#define STACK_BYTES (128 << 10)
#define MAX_THREADS 1024

emulated_index threadIdx, blockIdx, blockDim, gridDim;

// Where threads wait for each other: the last one lets all go on.
struct meeting {
	unsigned arrived, size, turn;
};

// 16 bytes on their way to shared memory.
struct copy {
	void *to;
	const void *from;
	unsigned group;
};

// Kept from block to block.
struct thread {
	jmp_buf at;                    // where it waits: a jump asks the kernel nothing, as a change of contexts does
	std::unique_ptr<char[]> stack; // not cleared: most of it is never touched
	bool ended;
	const meeting *waits; // for the end of this turn of it
	unsigned turn;
	std::vector<copy> copies;
	unsigned group; // of the next copy
};

static struct {
	std::vector<thread> threads{ MAX_THREADS };
	jmp_buf scheduler;
	const std::function<void()> *kernel;
	meeting block, warp[MAX_THREADS / 32];
	// Values that lanes give go to one half, then the other: whoever gives to a half again has met all who read it.
	emulated_value values[2][MAX_THREADS];
	unsigned current;
	uint64_t progress; // threads that ended and meetings that took place
} emulator;

[[noreturn]] static void die(const char *what)
{
	fprintf(stderr, "emulated block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
	abort();
}

static void yield()
{
	if (!_setjmp(emulator.threads[emulator.current].at))
		_longjmp(emulator.scheduler, 1);
}

// Let a thread go on until it waits or ends.
__attribute__((noinline)) static void resume(thread &t)
{
	if (!_setjmp(emulator.scheduler))
		_longjmp(t.at, 1);
}

static void meet(meeting &m)
{
	const unsigned turn = m.turn;

	if (++m.arrived == m.size) {
		m.arrived = 0;
		m.turn++;
		emulator.progress++;
		return;
	}
	emulator.threads[emulator.current].waits = &m;
	emulator.threads[emulator.current].turn = turn;
	yield();
}

void __syncthreads()
{
	meet(emulator.block);
}

const emulated_value *emulated_exchange(const void *mine, size_t size)
{
	const unsigned warp = emulator.current / 32;
	emulated_value *half = emulator.values[emulator.warp[warp].turn % 2];

	if (!mine || size > sizeof(half[0]))
		die("an exchange that the emulator does not have");
	memcpy(half[emulator.current], mine, size);
	meet(emulator.warp[warp]);
	return &half[warp * 32];
}

void emulated_mma_s8(int (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
	struct {
		uint32_t a[4], b[2];
	} mine = { { a[0], a[1], a[2], a[3] }, { b0, b1 } }, all[32];
	const unsigned lane = threadIdx.x % 32;
	const emulated_value *given = emulated_exchange(&mine, sizeof(mine));

	for (int i = 0; i < 32; i++)
		memcpy(&all[i], given[i], sizeof(mine));
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 32; k++) {
			const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2, of = k % 16 / 4;
			const uint32_t x = all[row % 8 * 4 + of].a[k / 16 * 2 + row / 8],
				       y = all[column * 4 + of].b[k / 16];

			c[i] += (int8_t)(x >> k % 4 * 8) * (int8_t)(y >> k % 4 * 8);
		}
}

void emulated_load_matrices(uint32_t (&r)[4], const void *row)
{
	const unsigned lane = threadIdx.x % 32;
	const emulated_value *rows;

	if ((uintptr_t)row % 16)
		die("a row of a matrix that is not aligned");
	rows = emulated_exchange(&row, sizeof(row));
	for (unsigned i = 0; i < 4; i++) {
		const char *from;

		memcpy(&from, rows[i * 8 + lane / 4], sizeof(from));
		memcpy(&r[i], from + lane % 4 * 4, 4);
	}
}

// Until a copy is waited for, its destination holds neither the old bytes nor the new ones.
void emulated_copy16(void *to, const void *from)
{
	thread &t = emulator.threads[emulator.current];

	if ((uintptr_t)to % 16 || (uintptr_t)from % 16)
		die("a copy that is not aligned");
	memset(to, 0x55, 16);
	t.copies.push_back({ to, from, t.group });
}

void emulated_copies_end()
{
	emulator.threads[emulator.current].group++;
}

void emulated_copies_wait(unsigned left)
{
	thread &t = emulator.threads[emulator.current];
	std::vector<copy> later;

	for (const copy &c : t.copies)
		if (c.group + left < t.group)
			memcpy(c.to, c.from, 16);
		else
			later.push_back(c);
	t.copies.swap(later);
}

// One thread of each block after the other.
static void thread_main()
{
	for (;;) {
		yield();
		(*emulator.kernel)();
		if (!emulator.threads[emulator.current].copies.empty())
			die("ends before its copies have");
		emulator.threads[emulator.current].ended = true;
		emulator.progress++;
	}
}

// Start a thread, which waits for its first block.
__attribute__((noinline)) static void begin(thread &t)
{
	ucontext_t context;

	t.stack.reset(new char[STACK_BYTES]);
	getcontext(&context);
	context.uc_stack.ss_sp = t.stack.get();
	context.uc_stack.ss_size = STACK_BYTES;
	context.uc_link = nullptr;
	makecontext(&context, thread_main, 0);
	if (!_setjmp(emulator.scheduler))
		setcontext(&context);
}

static void run_block(unsigned threads, bool last_first)
{
	unsigned left = threads;

	emulator.block = { 0, threads, 0 };
	for (unsigned w = 0; w < threads / 32; w++)
		emulator.warp[w] = { 0, 32, 0 };
	for (unsigned i = 0; i < threads; i++) {
		thread &t = emulator.threads[emulator.current = i];

		if (!t.stack)
			begin(t);
		t.ended = false;
		t.waits = nullptr;
	}
	while (left) {
		const uint64_t before = emulator.progress;

		for (unsigned k = 0; k < threads; k++) {
			const unsigned i = last_first ? threads - 1 - k : k;

			thread &t = emulator.threads[i];

			if (t.ended || (t.waits && t.waits->turn == t.turn))
				continue;
			t.waits = nullptr;
			emulator.current = i;
			threadIdx = { i, 0, 0 };
			resume(t);
			left -= t.ended;
		}
		if (emulator.progress == before)
			die("waits for threads that do not come");
	}
}

void emulated_launch(int64_t grid, unsigned threads, const std::function<void()> &kernel)
{
	const char *order = getenv("ASSAY_EMULATOR_ORDER");

	if (grid < 1 || grid > INT32_MAX || threads % 32 || threads > MAX_THREADS)
		die("a launch that no device takes");
	emulator.kernel = &kernel;
	blockDim = { threads, 1, 1 };
	gridDim = { (unsigned)grid, 1, 1 };
	for (unsigned b = 0; b < gridDim.x; b++) {
		blockIdx = { b, 0, 0 };
		run_block(threads, order && !strcmp(order, "last"));
	}
}

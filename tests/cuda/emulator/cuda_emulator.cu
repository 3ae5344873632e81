// SPDX-License-Identifier: Apache-2.0
// The turns of the emulated threads. ASSAY_EMULATOR_ORDER=last begins each round with the last one of a block: what
// lacks a barrier gives other results then.
#include <cuda_runtime.h>

#include <cstdio>
#include <csetjmp>
#include <cstdlib>
#include <ucontext.h>
#include <vector>

#define STACK_BYTES (128 << 10)
#define MAX_THREADS 1024

emulated_index threadIdx, blockIdx, blockDim, gridDim;

// Where threads wait for each other: the last one lets all go on.
struct meeting {
	unsigned arrived, size, turn;
};

struct thread {
	ucontext_t context; // of its begin
	jmp_buf at;         // where it waits: a jump asks the kernel nothing, as a change of contexts does
	bool begun;
	std::vector<char> stack;
	bool ended;
};

static struct {
	std::vector<thread> threads{ MAX_THREADS };
	jmp_buf scheduler;
	const std::function<void()> *kernel;
	meeting block, warp[MAX_THREADS / 32];
	char values[MAX_THREADS][32];
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
	if (_setjmp(emulator.scheduler))
		return;
	if (t.begun)
		_longjmp(t.at, 1);
	t.begun = true;
	setcontext(&t.context);
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
	while (m.turn == turn)
		yield();
}

void __syncthreads()
{
	meet(emulator.block);
}

void emulated_exchange(const void *mine, size_t size, void *all)
{
	const unsigned lane0 = emulator.current / 32 * 32;

	if (!mine || size > sizeof(emulator.values[0]))
		die("an exchange that the emulator does not have");
	memcpy(emulator.values[emulator.current], mine, size);
	meet(emulator.warp[emulator.current / 32]);
	for (unsigned lane = 0; lane < 32; lane++)
		memcpy((char *)all + lane * size, emulator.values[lane0 + lane], size);
	meet(emulator.warp[emulator.current / 32]); // before anybody gives the next value
}

void emulated_mma_s8(int (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
	struct {
		uint32_t a[4], b[2];
	} mine = { { a[0], a[1], a[2], a[3] }, { b0, b1 } }, all[32];
	const unsigned lane = threadIdx.x % 32;

	emulated_exchange(&mine, sizeof(mine), all);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 32; k++) {
			const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2, of = k % 16 / 4;
			const uint32_t x = all[row % 8 * 4 + of].a[k / 16 * 2 + row / 8],
				       y = all[column * 4 + of].b[k / 16];

			c[i] += (int8_t)(x >> k % 4 * 8) * (int8_t)(y >> k % 4 * 8);
		}
}

static void thread_main()
{
	(*emulator.kernel)();
	emulator.threads[emulator.current].ended = true;
	emulator.progress++;
	yield();
}

static void begin(unsigned i)
{
	thread &t = emulator.threads[i];

	t.stack.resize(STACK_BYTES);
	t.ended = t.begun = false;
	getcontext(&t.context);
	t.context.uc_stack.ss_sp = t.stack.data();
	t.context.uc_stack.ss_size = t.stack.size();
	t.context.uc_link = nullptr;
	makecontext(&t.context, thread_main, 0);
}

static void run_block(unsigned threads, bool last_first)
{
	unsigned left = threads;

	emulator.block = { 0, threads, 0 };
	for (unsigned w = 0; w < threads / 32; w++)
		emulator.warp[w] = { 0, 32, 0 };
	for (unsigned i = 0; i < threads; i++)
		begin(i);
	while (left) {
		const uint64_t before = emulator.progress;

		for (unsigned k = 0; k < threads; k++) {
			const unsigned i = last_first ? threads - 1 - k : k;

			if (emulator.threads[i].ended)
				continue;
			emulator.current = i;
			threadIdx = { i, 0, 0 };
			resume(emulator.threads[i]);
			left -= emulator.threads[i].ended;
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

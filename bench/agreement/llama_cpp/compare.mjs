// SPDX-License-Identifier: Apache-2.0
// How far assay and llama.cpp agree on a GGUF file; see bench/llama_agreement.sh, which calls this with the folder of
// node-llama-cpp, the program, the two plugins, the file, and the type of the model's caches of keys and values.
import {execFileSync} from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [packages, assay, logitsPlugin, filesPlugin, file, cache] = process.argv.slice(2);
const PROMPTS = Number(process.env.PROMPTS ?? 20), TOKENS = Number(process.env.TOKENS ?? 256), GIVEN = 8;
const NEAR_TIE = 1e-4;

const {getLlama, LlamaLogLevel} = await import(pathToFileURL(path.join(packages, "node-llama-cpp/dist/index.js")));
const llama = await getLlama({gpu: false, build: "never", skipDownload: true, maxThreads: 1, logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath: file, gpuLayers: 0});
const context = await model.createContext({
	contextSize: 1024, flashAttention: false, batchSize: Number(process.env.BATCH ?? 1),
	experimentalKvCacheKeyType: cache, experimentalKvCacheValueType: cache
});
const sequence = context.getSequence();

// Ids of a prompt: the first is its number, so that no two begin alike; the others are from a generator of Lehmer's.
let random = 1;
function ids(prompt, n, vocab) {
	return Array.from({length: n}, (_, i) => {
		random = (random * 48271) % 2147483647;
		return i ? random % vocab : prompt;
	});
}

async function theirLogits(tokens) {
	await sequence.clearHistory();
	const out = await sequence.controlledEvaluate(
		tokens.map((t) => [t, {generateNext: {logits: true, options: {temperature: 0}}}]));
	return out.map(({next}) => {
		const row = new Float32Array(next.logits.size);
		for (const [token, value] of next.logits)
			row[token] = value;
		return row;
	});
}

function ask(requests, options, env) {
	const lines = execFileSync(assay, ["generate", file, "--requests", "--threads", "1", ...options], {
		input: requests.map((r) => JSON.stringify(r) + "\n").join(""), encoding: "utf8",
		env: {...process.env, ...env}, maxBuffer: 1 << 28, stdio: ["pipe", "pipe", "ignore"]
	}).trim().split("\n").map((l) => JSON.parse(l));
	const answers = [[]];

	for (const l of lines)
		if (l.event === "tokens")
			answers.at(-1).push(...l.tokens);
		else if (l.event === "end")
			answers.push([]);
	return answers;
}

function top(row) {
	let best = 0;
	for (let i = 1; i < row.length; i++)
		if (row[i] > row[best])
			best = i;
	return best;
}

function logProbabilities(row) {
	const most = row[top(row)];
	let sum = 0;
	for (const x of row)
		sum += Math.exp(x - most);
	return Float64Array.from(row, (x) => x - most - Math.log(sum));
}

// Each prompt continued greedily by both. Ids may differ behind two logits that are as good as equal.
const vocab = (await theirLogits([0]))[0].length;
const prompts = Array.from({length: PROMPTS}, (_, i) => ids(i, GIVEN, vocab));
const ours = ask(prompts.map((prompt) => ({prompt, max_tokens: TOKENS})), []);
let equal = 0, ties = 0;
for (const [i, prompt] of prompts.entries()) {
	await sequence.clearHistory();
	const theirs = [];
	for await (const t of sequence.evaluate(prompt, {temperature: 0, yieldEogToken: true})) {
		theirs.push(t);
		if (theirs.length === TOKENS)
			break;
	}
	const at = theirs.findIndex((t, k) => t !== ours[i][k]);
	if (at < 0) {
		equal++;
		continue;
	}
	const row = (await theirLogits([...prompt, ...theirs.slice(0, at)])).at(-1);
	const margin = Math.abs(row[theirs[at]] - row[ours[i][at]]);
	ties += margin < NEAR_TIE;
	console.log(`  prompt ${i}: token ${at} is ${ours[i][at]} here and ${theirs[at]} there, their logits differ by ${margin.toExponential(1)}`);
}

// Logits after each token of the same text.
const texts = Array.from({length: PROMPTS}, (_, i) => ids(i, TOKENS, vocab));
const logits = path.join(path.dirname(file), "logits");
fs.rmSync(logits, {force: true});
ask(texts.map((prompt) => ({prompt, max_tokens: 1})), ["--plugin", logitsPlugin, "--only", "*/logits/*"],
	{ASSAY_LOGITS: logits, ASSAY_LOGITS_OF: filesPlugin});
const bytes = fs.readFileSync(logits);
const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
if (all.length !== PROMPTS * TOKENS * vocab)
	throw new Error(`${all.length} logits came, expected ${PROMPTS * TOKENS * vocab}`);
let same = 0, divergence = 0, identical = 0;
for (const [i, text] of texts.entries())
	for (const [k, theirs] of (await theirLogits(text)).entries()) {
		const row = all.subarray((i * TOKENS + k) * vocab, (i * TOKENS + k + 1) * vocab);
		const p = logProbabilities(theirs), q = logProbabilities(row);

		same += top(row) === top(theirs);
		identical += row.every((x, n) => x === theirs[n]);
		for (let n = 0; n < vocab; n++)
			divergence += Math.exp(p[n]) * (p[n] - q[n]);
	}
const total = PROMPTS * TOKENS;
console.log(`${path.basename(file)}, ${cache} cache: greedy ${equal} of ${PROMPTS} prompts equal` +
	(ties ? `, ${ties} more up to a tie` : "") + `; of ${total} tokens top-1 ${(100 * same / total).toFixed(3)} %, ` +
	`mean KL ${(divergence / total).toExponential(1)}, logits identical ${(100 * identical / total).toFixed(1)} %`);
process.exit(0);

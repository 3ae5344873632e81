// SPDX-License-Identifier: Apache-2.0
// How many texts have other ids in tiktoken and @huggingface/tokenizers? tokens.mjs PACKAGES PRE DUMP. tokens.c wrote DUMP: the
// tokens, merges, and texts with their ids. bench/llama_tokens.sh calls it. Patterns are those that the makers publish.
import { createRequire } from "node:module";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";

const [packages, pre, dump] = process.argv.slice(2);
const require = createRequire(join(packages, "of.cjs"));
const { Tiktoken } = require("tiktoken");
const { Tokenizer } = require("@huggingface/tokenizers");

const newer = (digits) => `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*` +
	"|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const gpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", digit = ["\\p{N}", gpt2];
const patterns = {
	"gpt-2": [gpt2], "llama-bpe": [newer("\\p{N}{1,3}")], "qwen2": [newer("\\p{N}")], "starcoder": digit, "refact": digit, "command-r": digit,
}[pre];

// In these vocabularies each byte is a printable character.
const letters = [];
for (let b = 0, next = 256; b < 256; b++)
	letters.push(String.fromCodePoint((b > 32 && b < 127) || (b > 160 && b !== 173) ? b : next++));
const printable = (bytes) => Array.from(bytes, (b) => letters[b]).join("");

let tokens = [], merges = [], peers = {}, differ = {}, texts = 0;

function begin() {
	if (patterns.length === 1) // it takes no more
		peers["tiktoken"] = new Tiktoken(`! 0 ${tokens.map((t) => t.toString("base64")).join(" ")}`, {}, patterns[0]);
	const names = tokens.map(printable), json = {
		version: "1.0", truncation: null, padding: null, added_tokens: [], normalizer: null, post_processor: null,
		pre_tokenizer: { type: "Sequence", pretokenizers: [
			...patterns.map((p) => ({ type: "Split", pattern: { Regex: p }, behavior: "Isolated", invert: false })),
			{ type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false } ] },
		decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
		model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: "", end_of_word_suffix: "", fuse_unk: false,
			byte_fallback: false, ignore_merges: pre === "llama-bpe", vocab: Object.fromEntries(names.map((n, i) => [n, i])),
			merges: merges.map(([a, b]) => [names[a], names[b]]) },
	};
	const hf = new Tokenizer(json, { tokenizer_class: "PreTrainedTokenizerFast" });
	peers["@huggingface/tokenizers"] = { encode_ordinary: (s) => hf.encode(s, { add_special_tokens: false }).ids };
	for (const name in peers)
		differ[name] = [];
}

if (!patterns)
	console.log(`  no patterns of other tokenizers for ${pre}`);
for await (const line of createInterface({ input: createReadStream(patterns ? dump : "/dev/null") })) {
	const [kind, ...rest] = line.split(" ");
	if (kind === "T")
		tokens.push(Buffer.from(rest[0], "hex"));
	else if (kind === "M")
		merges.push(rest.map(Number));
	else {
		const text = Buffer.from(rest[0], "hex").toString(), ids = rest.slice(1).map(Number);
		if (!texts++)
			begin();
		for (const name in peers) {
			const theirs = peers[name].encode_ordinary(text);
			if (theirs.length !== ids.length || ids.some((id, i) => id !== theirs[i]))
				differ[name].push([text, ids, Array.from(theirs)]);
		}
	}
}
for (const name in peers) {
	console.log(`  ${name}: ${differ[name].length} of ${texts} texts have other ids`);
	for (const [text, ids, theirs] of differ[name].slice(0, Number(process.env.SHOW ?? 3))) {
		const at = ids.findIndex((id, i) => id !== theirs[i]), piece = (id) => JSON.stringify(tokens[id]?.toString() ?? null);
		const before = Buffer.concat(ids.slice(0, at).map((id) => tokens[id])).toString().length;
		console.log(`    ${JSON.stringify(text.slice(Math.max(0, before - 20), before + 20))}: id ${at} is ${ids[at]} ${piece(ids[at])} here and ${theirs[at]} ${piece(theirs[at])} there`);
	}
}

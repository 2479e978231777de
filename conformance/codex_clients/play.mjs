// What the JavaScript client programs share: they read what to play on stdin, and write what became of it on stdout.

import { text } from "node:stream/consumers";

import { jsonSchema, Output, streamText } from "ai";

import { schema } from "./schema.mjs";

export async function main(connect) {
  const asked = JSON.parse(await text(process.stdin));
  const told = {};
  for (const [name, one] of Object.entries(asked)) told[name] = await play(connect, one);
  process.stdout.write(JSON.stringify(told));
}

async function play(connect, { codex, prompt, interrupt, structured }) {
  const turn = { text: null, pieces: [], end: "", error: null, usage: null, ran: [] };
  const { model, close } = connect(codex);
  const leave = new AbortController();
  const output = structured ? { output: Output.object({ schema: jsonSchema(schema) }) } : {};
  const result = streamText({ model, prompt, ...output, maxRetries: 0, abortSignal: leave.signal, onError: () => {} });
  try {
    for await (const part of result.fullStream) hear(part, turn, interrupt && leave);
  } catch (error) {
    turn.end = "failed";
    turn.error = error.message;
  } finally {
    await close();
  }
  return turn;
}

function hear(part, turn, leave) {
  if (part.type === "text-delta") {
    turn.pieces.push(part.text);
    if (leave) leave.abort();
  } else if (part.type === "tool-call") {
    turn.ran.push(part.input.command ?? part.input);
  } else if (part.type === "error") {
    turn.end = "failed";
    turn.error = part.error.message;
  } else if (part.type === "abort") {
    turn.end = "interrupted";
  } else if (part.type === "finish" && part.finishReason === "error") {
    turn.end = "failed";
  } else if (part.type === "finish") {
    turn.end = "completed";
    turn.text = turn.pieces.join("");
    turn.usage = [part.totalUsage.inputTokens, part.totalUsage.outputTokens];
  }
}

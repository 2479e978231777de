// @openai/codex-sdk, OpenAI's own: it starts `codex exec --experimental-json` for every turn.

import { text } from "node:stream/consumers";

import { Codex } from "@openai/codex-sdk";

import { schema } from "./schema.mjs";

const asked = JSON.parse(await text(process.stdin));
const told = {};
for (const [name, one] of Object.entries(asked)) told[name] = await play(one);
process.stdout.write(JSON.stringify(told));

async function play({ codex, prompt, structured }) {
  const turn = { text: null, pieces: [], end: "", error: null, usage: null, ran: [] };
  const thread = new Codex({ codexPathOverride: codex }).startThread({ skipGitRepoCheck: true });
  try {
    const { finalResponse, items, usage } = await thread.run(prompt, structured ? { outputSchema: schema } : {});
    turn.end = "completed";
    turn.text = finalResponse;
    turn.pieces = [finalResponse];
    turn.ran = items.filter((item) => item.type === "command_execution").map((item) => item.command);
    turn.usage = [usage.input_tokens, usage.output_tokens];
  } catch (error) {
    turn.end = "failed";
    turn.error = error.message;
  }
  return turn;
}

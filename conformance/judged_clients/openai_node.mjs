// `openai` in JavaScript on chat: a loop by hand over `create`, over a stream, or `runTools`.
import OpenAI from "openai";
import { FUNCTION, MODEL, lookUp, run, talk } from "./talk.mjs";

const mode = process.argv[2];
const client = new OpenAI();
const tools = [{ type: "function", function: FUNCTION }];
const messages = [];

async function streamed() {
  const message = { role: "assistant", content: "" };
  const stream = await client.chat.completions.create({ model: MODEL, messages, tools, stream: true });
  for await (const chunk of stream) {
    for (const { delta } of chunk.choices) {
      message.content += delta.content ?? "";
      for (const piece of delta.tool_calls ?? []) {
        message.tool_calls ??= [];
        const call = (message.tool_calls[piece.index] ??= { id: piece.id, type: "function", function: { name: "", arguments: "" } });
        call.function.name += piece.function?.name ?? "";
        call.function.arguments += piece.function?.arguments ?? "";
      }
    }
  }
  return message;
}

async function loop() {
  for (;;) {
    const message =
      mode === "stream"
        ? await streamed()
        : (await client.chat.completions.create({ model: MODEL, messages, tools })).choices[0].message;
    messages.push(message);
    for (const call of message.tool_calls ?? []) {
      messages.push({ role: "tool", tool_call_id: call.id, content: run(call.function.name, call.function.arguments) });
    }
    if (!message.tool_calls?.length) return message.content;
  }
}

async function helped() {
  const runner = client.chat.completions.runTools({
    model: MODEL,
    messages,
    stream: true,
    tools: [{ type: "function", function: { ...FUNCTION, function: lookUp, parse: JSON.parse } }],
  });
  const text = await runner.finalContent();
  messages.splice(0, messages.length, ...runner.messages);
  return text;
}

await talk(async (prompt) => {
  messages.push({ role: "user", content: prompt });
  return mode === "runTools" ? helped() : loop();
});

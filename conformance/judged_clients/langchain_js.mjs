// `@langchain/openai` on chat: `bindTools`, and the loop of its guide.
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAICompletions } from "@langchain/openai";
import { z } from "zod";
import { FUNCTION, MODEL, lookUp, talk } from "./talk.mjs";

const mode = process.argv[2];
const own = tool(async (input) => lookUp(input), {
  name: FUNCTION.name,
  description: FUNCTION.description,
  schema: z.object({ query: z.string() }),
});
const llm = new ChatOpenAICompletions({ model: MODEL }).bindTools([own]);
const messages = [];

async function answered() {
  if (mode === "whole") return llm.invoke(messages);
  let message;
  for await (const chunk of await llm.stream(messages)) message = message ? message.concat(chunk) : chunk;
  return message;
}

async function result(call) {
  if (call.name !== own.name) return new ToolMessage({ content: `error: there is no tool ${call.name}`, tool_call_id: call.id });
  try {
    return await own.invoke(call);
  } catch (error) {
    return new ToolMessage({ content: `error: ${error.message}`, tool_call_id: call.id });
  }
}

await talk(async (prompt) => {
  messages.push(new HumanMessage(prompt));
  for (;;) {
    const message = await answered();
    messages.push(message);
    for (const call of message.tool_calls ?? []) messages.push(await result(call));
    for (const call of message.invalid_tool_calls ?? [])
      messages.push(new ToolMessage({ content: `error: ${call.error}`, tool_call_id: call.id }));
    if (!message.tool_calls?.length && !message.invalid_tool_calls?.length) return message.text;
  }
});

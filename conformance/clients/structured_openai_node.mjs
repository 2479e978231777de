// The `openai` package: `parse` with zod on both surfaces, streamed, and forced calls.

import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";

import { Event, event, FirstTool, main, QUESTION, SecondTool } from "./structured.mjs";

const connect = ({ url, key }) => new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0, timeout: 20_000 });

const messages = [{ role: "user", content: QUESTION }];
const format = zodResponseFormat(Event, "event");
const tools = [
  zodFunction({ name: "FirstTool", parameters: FirstTool }),
  zodFunction({ name: "SecondTool", parameters: SecondTool }),
];
const flat = [
  zodResponsesFunction({ name: "FirstTool", parameters: FirstTool }),
  zodResponsesFunction({ name: "SecondTool", parameters: SecondTool }),
];

const called = (choice) => async (account) => {
  const answer = await connect(account).chat.completions.parse({
    model: account.model,
    messages,
    tools,
    tool_choice: choice,
  });
  const calls = answer.choices[0].message.tool_calls ?? [];
  if (calls.some((call) => call.function.parsed_arguments == null)) throw new Error("arguments were not parsed");
  return { calls: calls.map((call) => call.function.name) };
};

const responseCalled = (choice) => async (account) => {
  const answer = await connect(account).responses.parse({
    model: account.model,
    input: QUESTION,
    tools: flat,
    tool_choice: choice,
  });
  return { calls: answer.output.filter((item) => item.type === "function_call").map((item) => item.name) };
};

await main({
  parse: async (account) => {
    const asked = { model: account.model, messages, response_format: format };
    return event((await connect(account).chat.completions.parse(asked)).choices[0].message.parsed);
  },
  "parse-stream": async (account) => {
    const asked = { model: account.model, messages, response_format: format };
    const stream = connect(account).chat.completions.stream(asked);
    return event((await stream.finalChatCompletion()).choices[0].message.parsed);
  },
  "responses-parse": async (account) => {
    const asked = { model: account.model, input: QUESTION, text: { format: zodTextFormat(Event, "event") } };
    return event((await connect(account).responses.parse(asked)).output_parsed);
  },
  "responses-stream": async (account) => {
    const asked = { model: account.model, input: QUESTION, text: { format: zodTextFormat(Event, "event") } };
    return event((await connect(account).responses.stream(asked).finalResponse()).output_parsed);
  },
  required: called("required"),
  named: called({ type: "function", function: { name: "SecondTool" } }),
  "responses-required": responseCalled("required"),
  "responses-named": responseCalled({ type: "function", name: "SecondTool" }),
});

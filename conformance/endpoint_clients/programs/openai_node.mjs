// openai for JavaScript, chat completions.
import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { EVENT, Event, FLAKY, HELLO, REFUSED, loop, main, model, pieces, tool, user } from "./asked.mjs";

const client = new OpenAI({ maxRetries: 0 });
const ask = (messages, more = {}, options = {}) => client.chat.completions.create({ model, messages, ...more }, options);

await main({
  text: async () => (await ask(user(HELLO))).choices[0].message.content,
  stream: async () => pieces(await ask(user(HELLO), { stream: true })),
  tool: () => loop(async (messages) => (await ask(messages, { tools: [tool] })).choices[0].message),
  structured: async () =>
    (await client.chat.completions.parse({ model, messages: user(EVENT), response_format: zodResponseFormat(Event, "event") }))
      .choices[0].message.parsed,
  error: () => ask(user(REFUSED)),
  retry: async () => (await ask(user(FLAKY), {}, { maxRetries: 2 })).choices[0].message.content,
});

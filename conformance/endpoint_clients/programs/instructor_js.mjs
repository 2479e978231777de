// Instructor for JavaScript, on openai's client.
import Instructor from "@instructor-ai/instructor";
import OpenAI from "openai";
import { EVENT, Event, REFUSED, main, model, user } from "./asked.mjs";

const client = Instructor({ client: new OpenAI({ maxRetries: 0 }), mode: "TOOLS" });
const ask = (text) =>
  client.chat.completions.create({ model, messages: user(text), response_model: { schema: Event, name: "Event" }, max_retries: 0 });

await main({
  structured: async () => {
    const { name, day, people } = await ask(EVENT);
    return { name, day, people };
  },
  error: () => ask(REFUSED),
});

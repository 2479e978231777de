// ai-sdk-provider-codex-app-server.

import { createCodexAppServer } from "ai-sdk-provider-codex-app-server";

import { main } from "./play.mjs";

await main((codexPath) => {
  const provider = createCodexAppServer({ defaultSettings: { codexPath, logger: false } });
  const model = provider("mock-model");
  return { model, close: () => model.dispose?.() };
});

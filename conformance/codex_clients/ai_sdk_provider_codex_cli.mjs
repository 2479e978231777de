// ai-sdk-provider-codex-cli, in its app-server mode.

import { createCodexAppServer } from "ai-sdk-provider-codex-cli";

import { main } from "./play.mjs";

await main((codexPath) => {
  const provider = createCodexAppServer({ defaultSettings: { codexPath, logger: false } });
  return { model: provider("mock-model"), close: () => provider.close() };
});

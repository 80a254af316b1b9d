import { ModelFault } from "@toolgate/gen/toolgate/chat/v1/model_pb";

export const MODELS = {
  title: "Models",
  create: "Add model",
  empty: "No models yet",
  emptyText:
    "A language model at a server of your choice, which assistants use by its name. Until then the built-in model answers, which follows a few fixed rules.",
  provider: "API",
  server: "Server",
  model: "Model",
  modelHint: "As the provider calls it.",
  baseUrl: "Address",
  baseUrlHint: "With the version, such as https://api.openai.com/v1, and without /chat/completions or /messages.",
  apiKey: "API key",
  apiKeyHint: "It is stored sealed, and nobody can show it again.",
  keepKey: "Leave it empty to keep the stored one, as long as the address has the same host and port.",
  removeKey: "Remove the stored key",
  options: "Options",
  readsFiles: "It reads images and PDF files",
  asksForUsage: "Ask for the number of tokens (stream_options)",
  thinksFirst: "Its answers begin with thinking that only </think> ends",
  price: "Price of a million tokens",
  priceHint: "For the cost of usage, from now on. Empty: no cost.",
  currency: "Currency",
  input: "Input",
  output: "Output",
  priceWrong: "A number such as 0.40, with at most 6 decimals.",
  urlMissing: "Enter an address.",
  modelMissing: "Enter the model's name.",
  key: "API key",
  hasKey: "stored",
  noKey: "none",
  saved: "Saved",
  test: "Test connection",
  testing: "Asking…",
  works: (milliseconds: number) => `It works, with tools (${milliseconds.toLocaleString("en")} ms)`,
  deleteText: "A model that an assistant uses cannot be deleted. Its key is erased.",
} as const;

export const PROVIDERS = [
  ["MODEL_PROVIDER_OPENAI_COMPATIBLE", "OpenAI’s chat completions, and servers like it"],
  ["MODEL_PROVIDER_ANTHROPIC", "Anthropic’s messages"],
] as const;

/** Which setting the test of a model has found to be wrong. */
export const FAULTS: Readonly<Record<ModelFault, string>> = {
  [ModelFault.UNSPECIFIED]: "",
  [ModelFault.ADDRESS]: "Address",
  [ModelFault.API_KEY]: "API key",
  [ModelFault.MODEL]: "Model name",
  [ModelFault.TOOLS]: "Tools",
  [ModelFault.OTHER]: "Server",
};

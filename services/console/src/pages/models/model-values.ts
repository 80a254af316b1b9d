import { ModelProvider } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import * as v from "valibot";
import { MODELS } from "../../text/en/assistants/models.ts";
import { Name } from "../data/name-field.tsx";
import { microsOf } from "./price.ts";

const text = (missing: string) => v.pipe(v.string(), v.trim(), v.nonEmpty(missing));
const checked = v.pipe(
  v.optional(v.string(), ""),
  v.transform((value) => value !== ""),
);
const price = v.pipe(
  v.string(),
  v.check((value) => value.trim() === "" || microsOf(value) !== undefined, MODELS.priceWrong),
  v.transform(microsOf),
);

/** The fields of the form. Without prices the model has none. */
export const ModelValues = v.pipe(
  v.object({
    name: Name,
    provider: v.string(),
    base_url: text(MODELS.urlMissing),
    model: text(MODELS.modelMissing),
    api_key: v.string(),
    remove_key: checked,
    reads_files: checked,
    asks_for_usage: checked,
    thinks_first: checked,
    currency: v.pipe(v.string(), v.trim(), v.toUpperCase()),
    input: price,
    output: price,
  }),
  v.transform(({ currency, input, output, ...values }) => {
    const hasPrice = input !== undefined || output !== undefined;
    return {
      ...values,
      price: hasPrice ? { currency, inputMicros: input ?? 0n, outputMicros: output ?? 0n } : undefined,
    };
  }),
);

type Settings = Omit<v.InferOutput<typeof ModelValues>, "price">;

/** As the RPCs take them. An empty key keeps the stored one. */
export function settingsOf({ provider, base_url, api_key, remove_key, ...values }: Settings) {
  const isAnthropic = provider === "MODEL_PROVIDER_ANTHROPIC";
  const apiKey = api_key === "" && !remove_key ? undefined : api_key;
  return {
    name: values.name,
    provider: isAnthropic ? ModelProvider.ANTHROPIC : ModelProvider.OPENAI_COMPATIBLE,
    baseUrl: base_url,
    model: values.model,
    apiKey,
    readsFiles: values.reads_files,
    asksForUsage: values.asks_for_usage,
    thinksFirst: values.thinks_first,
  };
}

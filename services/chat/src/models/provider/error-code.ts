/** Bytes of an error response that are read. */
const MAX_ERROR_BYTES = 16_384;
/** A code, as opposed to prose, which may repeat parts of the request. */
const CODE = /^[a-z][a-z0-9_.-]{0,63}$/i;

/** The code or type in an error response, such as `model_not_found`. Never rejects. Ends the body. */
export async function readErrorCode(body: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_ERROR_BYTES) return undefined;
    }
    return errorCodeOf(JSON.parse(Buffer.concat(chunks).toString()));
  } catch {
    return undefined;
  }
}

/**
 * The code or type in an error, as OpenAI, Anthropic and others write them. Anthropic, vLLM and Ollama say only in words
 * whether it is the model or the path that is not found.
 */
export function errorCodeOf(value: unknown): string | undefined {
  const error = member(value, "error") ?? value;
  const { code, type } = { code: member(error, "code"), type: member(error, "type") };
  if (/not_?found/i.test(String(type)) && /^(the )?model\b/i.test(String(member(error, "message"))))
    return "model_not_found";
  for (const candidate of [code, type]) {
    if (typeof candidate === "string" && CODE.test(candidate)) return candidate;
    if (typeof candidate === "number") return String(candidate);
  }
  return undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

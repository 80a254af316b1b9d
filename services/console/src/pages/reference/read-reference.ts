import { descriptionUrl } from "@toolgate/api-examples/example-call";
import { type ReadDocument, readOpenApi } from "@toolgate/api-examples/read-openapi";
import { REFERENCE } from "../../text/en/reference.ts";

const TIMEOUT_MS = 30_000;

/** The tools of a key, or why they are not shown. The key is in this one request's header and nowhere else. */
export async function readReference(key: string, signal: AbortSignal): Promise<ReadDocument | string> {
  const response = await fetch(descriptionUrl(location.origin), {
    headers: { authorization: `Bearer ${key}` },
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
    redirect: "error",
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  if (response.status === 401) return REFERENCE.refused;
  const document = response.ok ? readOpenApi(await response.json()) : undefined;
  return document ?? REFERENCE.failed(response.status);
}

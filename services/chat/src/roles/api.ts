import { runEvery } from "@toolgate/service-host/every";
import type { Loops } from "@toolgate/service-host/loops";
import type { Context } from "../context.ts";

const EXPIRE_FILES_EVERY_MS = 60 * 1000;

/** What runs alongside the RPCs. */
export function apiLoops({ files }: Context, onError: (error: unknown) => void): Loops {
  return {
    producers: [(signal) => runEvery(EXPIRE_FILES_EVERY_MS, signal, () => files.expire(), onError)],
  };
}

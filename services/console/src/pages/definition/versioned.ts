import type { JsonObject } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** A version of something that has a definition: a tool or an assistant. */
export interface Versioned {
  name: string;
  /** 0: not saved yet. */
  version: number;
  definition?: JsonObject | undefined;
  savedAt?: Timestamp | undefined;
  savedBy: string;
}

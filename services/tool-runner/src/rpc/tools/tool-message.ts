import type { JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ToolRow } from "../../store/tools.ts";

export function toolMessage({ name, version, definition, savedAt, savedBy }: ToolRow) {
  return { name, version, definition: definition as JsonObject, savedAt: timestampFromDate(savedAt), savedBy };
}

export function noSuchTool(): ConnectError {
  return new ConnectError("no such tool", Code.NotFound);
}

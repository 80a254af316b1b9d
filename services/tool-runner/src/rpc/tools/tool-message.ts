import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { timestampOf } from "@toolgate/service-host/time";
import type { ToolRow } from "../../store/tools.ts";

export function toolMessage({ name, version, definition, savedAt, savedBy }: ToolRow) {
  return { name, version, definition: definition as JsonObject, savedAt: timestampOf(savedAt), savedBy };
}

export function noSuchTool(): ConnectError {
  return new ConnectError("no such tool", Code.NotFound);
}

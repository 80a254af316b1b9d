import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ToolKind } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { ToolRow } from "../../store/tools.ts";

const KINDS = { handler: ToolKind.HANDLER, api: ToolKind.API, query: ToolKind.QUERY } as const;

export function toolMessage({ name, version, kind, definition, savedAt, savedBy }: ToolRow) {
  return {
    name,
    version,
    kind: KINDS[kind],
    definition: definition as JsonObject,
    savedAt: timestampOf(savedAt),
    savedBy,
  };
}

export function noSuchTool(): ConnectError {
  return new ConnectError("no such tool", Code.NotFound);
}

import type { JsonObject } from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { ToolService, type ToolViolation } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useEffect, useState } from "react";
import { useCanManage, useWorkspace } from "../../../rpc/use-session.ts";

const TYPING_MS = 300;

export interface Check {
  violations: readonly ToolViolation[];
}

/** What a save of the draft would refuse, checked by the server when the user pauses. Undefined before the first answer. */
export function useCheck(name: string, definition: JsonObject): Check | undefined {
  const workspace = useWorkspace();
  const canManage = useCanManage();
  const transport = useTransport();
  const [check, setCheck] = useState<Check>();
  useEffect(() => {
    if (!canManage) return;
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      const request = { workspace, name, definition };
      const options = { signal: ended.signal };
      // Without an answer the last one stays; the save says what is wrong.
      const found = await callUnaryMethod(transport, ToolService.method.checkTool, request, options).catch(() => {});
      if (found && !ended.signal.aborted) setCheck(found);
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [workspace, name, definition, canManage]);
  return check;
}

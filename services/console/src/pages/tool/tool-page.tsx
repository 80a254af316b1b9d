import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { getRouteApi, lazyRouteComponent } from "@tanstack/react-router";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { type ComponentType, Suspense, useEffect, useMemo } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useCanManage, useWorkspace } from "../../rpc/use-session.ts";
import { EDITOR } from "../../text/en/tools/tool-editor.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Tabs } from "../../ui/page/tabs.tsx";
import { exampleTool } from "./examples.ts";
import { NoTool } from "./no-tool.tsx";
import type { ToolTabProps } from "./tool-tab.ts";

const route = getRouteApi("/shell/tools/$name");

const TABS: readonly (readonly ["definition" | "api" | "versions", string, ComponentType<ToolTabProps>])[] = [
  ["definition", EDITOR.definition, lazyRouteComponent(() => import("./definition/definition-tab.tsx"))],
  ["api", "API", lazyRouteComponent(() => import("./api/api-tab.tsx"))],
  ["versions", "Versions", lazyRouteComponent(() => import("./versions/versions-tab.tsx"))],
];

export function ToolPage() {
  const workspace = useWorkspace();
  const { name } = route.useParams();
  const { tab = "definition", kind } = route.useSearch();
  const navigate = route.useNavigate();
  const canManage = useCanManage();
  const { data, error, refetch } = useQuery(ToolService.method.getTool, { workspace, name });
  const isMissing = data === undefined && error !== null && ConnectError.from(error).code === Code.NotFound;
  const example = useMemo(() => kind && exampleTool(name, kind), [name, kind]);
  const isNew = isMissing && canManage && example !== undefined;
  const tool = data?.tool ?? (isNew ? example : undefined);
  const Tab = TABS.find(([id]) => id === (isNew ? "definition" : tab))?.[2];
  // Once it is saved, the address is that of any other tool.
  useEffect(() => {
    if (!data || !kind) return;
    void navigate({ search: (before) => ({ ...before, kind: undefined }), replace: true, ignoreBlocker: true });
  }, [data, kind]);
  return (
    <Page title={name} toolbar={!isMissing && <Tabs label="Parts of the tool" tabs={TABS} current={tab} />}>
      {error && !isMissing && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      {isMissing && !isNew && <NoTool name={name} onRestored={() => void refetch()} />}
      <Suspense>{tool && Tab && <Tab key={name} tool={tool} onChanged={() => void refetch()} />}</Suspense>
    </Page>
  );
}

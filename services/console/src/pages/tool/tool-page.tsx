import { useQuery } from "@connectrpc/connect-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { type ComponentType, lazy, Suspense } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { FailureText } from "../../ui/failure.tsx";
import { Page } from "../../ui/page.tsx";
import styles from "./tool-page.module.css";
import type { ToolTabProps } from "./tool-tab.ts";

const route = getRouteApi("/shell/tools/$name");

const TABS: readonly (readonly ["definition" | "api" | "versions", string, ComponentType<ToolTabProps>])[] = [
  ["definition", "Definition", lazy(() => import("./definition/definition-tab.tsx"))],
  ["api", "API", lazy(() => import("./api/api-tab.tsx"))],
  ["versions", "Versions", lazy(() => import("./versions/versions-tab.tsx"))],
];

export function ToolPage() {
  const workspace = useWorkspace();
  const { name } = route.useParams();
  const { tab = "definition" } = route.useSearch();
  const { data, error, refetch } = useQuery(ToolService.method.getTool, { workspace, name });
  const Tab = TABS.find(([id]) => id === tab)?.[2];
  return (
    <Page
      title={name}
      toolbar={
        <nav aria-label="Parts of the tool" className={styles.tabs}>
          {TABS.map(([id, label]) => (
            <Link key={id} from="/tools/$name" search={{ tab: id }} aria-current={id === tab ? "page" : undefined}>
              {label}
            </Link>
          ))}
        </nav>
      }
    >
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      <Suspense>{data?.tool && Tab && <Tab tool={data.tool} onChanged={() => void refetch()} />}</Suspense>
    </Page>
  );
}

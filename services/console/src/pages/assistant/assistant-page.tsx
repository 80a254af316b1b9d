import { useQuery } from "@connectrpc/connect-query";
import { getRouteApi, lazyRouteComponent } from "@tanstack/react-router";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { type ComponentType, Suspense } from "react";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { ASSISTANTS } from "../../text/en/assistants/assistants.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Tabs } from "../../ui/page/tabs.tsx";
import type { AssistantTabProps } from "./assistant-tab.ts";

const route = getRouteApi("/shell/assistants/$name");

const TABS: readonly (readonly ["definition" | "playground" | "versions", string, ComponentType<AssistantTabProps>])[] =
  [
    ["definition", ASSISTANTS.definition, lazyRouteComponent(() => import("./definition/definition-tab.tsx"))],
    ["playground", ASSISTANTS.playground, lazyRouteComponent(() => import("./playground/playground-tab.tsx"))],
    ["versions", ASSISTANTS.versions, lazyRouteComponent(() => import("./versions/versions-tab.tsx"))],
  ];

export function AssistantPage() {
  const workspace = useWorkspace();
  const { name } = route.useParams();
  const { tab = "definition" } = route.useSearch();
  const { data, error, refetch } = useQuery(AssistantService.method.getAssistant, { workspace, name });
  const assistant = data?.assistant;
  const Tab = TABS.find(([id]) => id === tab)?.[2];
  return (
    <Page title={name} toolbar={<Tabs label={ASSISTANTS.parts} tabs={TABS} current={tab} />}>
      {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
      <Suspense>
        {assistant && Tab && <Tab key={name} assistant={assistant} onChanged={() => void refetch()} />}
      </Suspense>
    </Page>
  );
}

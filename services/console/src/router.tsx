import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import * as v from "valibot";
import { LoginPage } from "./pages/login/login.tsx";
import { Failed, NoAccess, NotFound } from "./pages/shell/messages.tsx";
import { Shell } from "./pages/shell/shell.tsx";
import { Search as AssistantSearch } from "./routes/assistant.ts";
import { Search as AuditSearch } from "./routes/audit.ts";
import { Search as BuilderSearch } from "./routes/builder.ts";
import { Search as DeliveriesSearch } from "./routes/deliveries.ts";
import { Search as EndpointsSearch } from "./routes/endpoints.ts";
import { Search as EventsSearch } from "./routes/events.ts";
import { Search as HookLogSearch } from "./routes/hook-log.ts";
import { Search as HooksSearch } from "./routes/hooks.ts";
import { Search as KeysSearch } from "./routes/keys.ts";
import { Search as NamedSearch } from "./routes/named-list.ts";
import { Search as RunsSearch } from "./routes/runs.ts";
import { parseSearch, stringifySearch, text } from "./routes/search.ts";
import { Search as ToolSearch } from "./routes/tool.ts";
import { Search as ToolsSearch } from "./routes/tools.ts";
import { Search as UndeliveredSearch } from "./routes/undelivered.ts";
import { loadSession, sessionStore } from "./rpc/session.ts";
import { useCanManage } from "./rpc/use-session.ts";

const root = createRootRoute({
  validateSearch: v.object({ workspace: text }),
  search: { middlewares: [retainSearchParams(["workspace"])] },
  notFoundComponent: NotFound,
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: v.object({ next: text }),
  component: () => <LoginPage next={login.useSearch().next} />,
});

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ location }) => {
    if (sessionStore.get() ?? (await loadSession())) return;
    throw redirect({ to: "/login", search: { next: `/manage${location.href}` } });
  },
  component: Shell,
});

/** Pages for managers and admins. */
const managed = createRoute({
  getParentRoute: () => shell,
  id: "managed",
  component: () => (useCanManage() ? <Outlet /> : <NoAccess />),
});

const index = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/tools" });
  },
});

const tools = createRoute({
  getParentRoute: () => shell,
  path: "/tools",
  validateSearch: ToolsSearch,
  component: lazyRouteComponent(() => import("./pages/tools/tools-page.tsx"), "ToolsPage"),
});

const tool = createRoute({
  getParentRoute: () => shell,
  path: "/tools/$name",
  validateSearch: ToolSearch,
  component: lazyRouteComponent(() => import("./pages/tool/tool-page.tsx"), "ToolPage"),
});

const assistants = createRoute({
  getParentRoute: () => shell,
  path: "/assistants",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/assistants/assistants-page.tsx"), "AssistantsPage"),
});

const assistant = createRoute({
  getParentRoute: () => shell,
  path: "/assistants/$name",
  validateSearch: AssistantSearch,
  component: lazyRouteComponent(() => import("./pages/assistant/assistant-page.tsx"), "AssistantPage"),
});

const builder = createRoute({
  getParentRoute: () => managed,
  path: "/builder",
  validateSearch: BuilderSearch,
  component: lazyRouteComponent(() => import("./pages/builder/builder-page.tsx"), "BuilderPage"),
});

const runs = createRoute({
  getParentRoute: () => managed,
  path: "/runs",
  validateSearch: RunsSearch,
  component: lazyRouteComponent(() => import("./pages/runs/runs-page.tsx"), "RunsPage"),
});

const keys = createRoute({
  getParentRoute: () => managed,
  path: "/api-keys",
  validateSearch: KeysSearch,
  component: lazyRouteComponent(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
});

const endpoints = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks",
  validateSearch: EndpointsSearch,
  component: lazyRouteComponent(() => import("./pages/endpoints/endpoints-page.tsx"), "EndpointsPage"),
});

const deliveries = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/deliveries",
  validateSearch: DeliveriesSearch,
  component: lazyRouteComponent(() => import("./pages/deliveries/deliveries-page.tsx"), "DeliveriesPage"),
});

const undelivered = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/undelivered",
  validateSearch: UndeliveredSearch,
  component: lazyRouteComponent(() => import("./pages/undelivered/undelivered-page.tsx"), "UndeliveredPage"),
});

const events = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/events",
  validateSearch: EventsSearch,
  component: lazyRouteComponent(() => import("./pages/events/events-page.tsx"), "EventsPage"),
});

const hooks = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/hooks",
  validateSearch: HooksSearch,
  component: lazyRouteComponent(() => import("./pages/hooks/hooks-page.tsx"), "HooksPage"),
});

const hookLog = createRoute({
  getParentRoute: () => managed,
  path: "/webhooks/calls",
  validateSearch: HookLogSearch,
  component: lazyRouteComponent(() => import("./pages/hook-log/hook-log-page.tsx"), "HookLogPage"),
});

const variables = createRoute({
  getParentRoute: () => managed,
  path: "/variables",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/variables-page.tsx"), "VariablesPage"),
});

const secrets = createRoute({
  getParentRoute: () => managed,
  path: "/secrets",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/secrets-page.tsx"), "SecretsPage"),
});

const queries = createRoute({
  getParentRoute: () => managed,
  path: "/queries",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/queries-page.tsx"), "QueriesPage"),
});

const sheets = createRoute({
  getParentRoute: () => managed,
  path: "/sheets",
  validateSearch: NamedSearch,
  component: lazyRouteComponent(() => import("./pages/data/sheets-page.tsx"), "SheetsPage"),
});

const audit = createRoute({
  getParentRoute: () => managed,
  path: "/audit",
  validateSearch: AuditSearch,
  component: lazyRouteComponent(() => import("./pages/audit/audit-page.tsx"), "AuditPage"),
});

const components = createRoute({
  getParentRoute: () => managed,
  path: "/components",
  component: lazyRouteComponent(() => import("./pages/components/components-page.tsx"), "ComponentsPage"),
});

const pages = managed.addChildren([
  builder,
  components,
  runs,
  keys,
  endpoints,
  deliveries,
  undelivered,
  events,
  hooks,
  hookLog,
  variables,
  secrets,
  queries,
  sheets,
  audit,
]);

export const router = createRouter({
  basepath: "/manage",
  routeTree: root.addChildren([login, shell.addChildren([index, tools, tool, assistants, assistant, pages])]),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Failed,
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

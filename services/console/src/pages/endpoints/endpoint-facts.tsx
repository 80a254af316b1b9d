import type { Endpoint } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { Time } from "../../ui/time.tsx";
import { EndpointStatusBadge } from "./endpoint-status.tsx";

export function factsOf(endpoint: Endpoint) {
  const { events, tools, description, headerNames, deactivatedAt, version, savedBy } = endpoint;
  return [
    ["Status", <EndpointStatusBadge key="status" {...endpoint} />],
    ...(deactivatedAt ? [["Deactivated", <Time key="deactivated" at={deactivatedAt} exact />] as const] : []),
    ["URL", <code key="url">{endpoint.url}</code>],
    ["Description", description || "none"],
    ["Events", <Codes key="events" texts={events} />],
    ...(events.includes("tool.completed")
      ? [["Tools", tools.length === 0 ? "all" : <Codes key="tools" texts={tools} />] as const]
      : []),
    ["Custom headers", headerNames.length === 0 ? "none" : <Codes key="headers" texts={headerNames} />],
    ["Created", <Time key="created" at={endpoint.createdAt} exact />],
    [
      "Saved",
      <span key="saved">
        <Time at={endpoint.savedAt} exact />
        {savedBy && ` by ${savedBy}`}, version {version}
      </span>,
    ],
    ["Id", <code key="id">{String(endpoint.id)}</code>],
  ] as const;
}

function Codes({ texts }: { texts: readonly string[] }) {
  return texts.map((text, index) => (
    <span key={text}>
      {index > 0 && ", "}
      <code>{text}</code>
    </span>
  ));
}

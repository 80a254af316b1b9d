import { Page } from "../../ui/page.tsx";

export function EndpointsPage() {
  return <Page title="endpoints">{null}</Page>;
}

import { Page } from "../../ui/page.tsx";

export function RunsPage() {
  return <Page title="runs">{null}</Page>;
}

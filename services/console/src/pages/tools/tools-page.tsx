import { Page } from "../../ui/page.tsx";

export function ToolsPage() {
  return <Page title="tools">{null}</Page>;
}

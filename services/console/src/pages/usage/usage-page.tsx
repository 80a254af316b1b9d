import { useQuery } from "@connectrpc/connect-query";
import { getRouteApi } from "@tanstack/react-router";
import { AssistantService } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import { ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { USAGE_DAYS } from "../../routes/usage.ts";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { USAGE } from "../../text/en/assistants/chats.ts";
import { Select } from "../../ui/form/input.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Budget } from "./budget.tsx";
import { lastDays } from "./days.ts";
import styles from "./usage.module.css";
import { UsageByDay } from "./usage-by-day.tsx";

const route = getRouteApi("/shell/managed/usage");
const DAYS = USAGE_DAYS.map((days) => [days, USAGE.lastDays(Number(days))] as const);

/** What chats of the workspace use: tokens and cost by day, and the budget. */
export function UsagePage() {
  const workspace = useWorkspace();
  const { days = "30" } = route.useSearch();
  const navigate = route.useNavigate();
  const period = lastDays(Number(days), new Date());
  const usage = useQuery(ModelService.method.getUsage, {
    workspace,
    firstDay: period[0] ?? "",
    lastDay: period.at(-1) ?? "",
  });
  const settings = useQuery(AssistantService.method.getChatSettings, { workspace });
  const setDays = (value: string) =>
    void navigate({ search: { days: USAGE_DAYS.find((one) => one === value) }, replace: true });
  return (
    <Page
      title={USAGE.title}
      toolbar={<Select aria-label={USAGE.days} options={DAYS} value={days} onValue={setDays} />}
    >
      <div className={styles.parts}>
        {settings.error && <FailureText failure={failureOf(settings.error)} onRetry={() => void settings.refetch()} />}
        {settings.data?.settings && (
          <Budget settings={settings.data.settings} onChanged={() => void settings.refetch()} />
        )}
        {usage.error && <FailureText failure={failureOf(usage.error)} onRetry={() => void usage.refetch()} />}
        {usage.data && (
          <UsageByDay
            days={period}
            usage={usage.data.usage}
            costs={usage.data.costs}
            budget={settings.data?.settings?.tokensPerDay ?? 0n}
          />
        )}
      </div>
    </Page>
  );
}

import { useQuery } from "@connectrpc/connect-query";
import { type GetOverviewResponse, OverviewService } from "@toolgate/gen/toolgate/gateway/v1/overview_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { CHARTS, OVERVIEW } from "../../text/en/overview.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Page } from "../../ui/page/page.tsx";
import { Part } from "../../ui/page/part.tsx";
import { AttentionList } from "./attention-list.tsx";
import { DayChart } from "./day-chart.tsx";
import { FirstSteps } from "./first-steps.tsx";
import styles from "./overview.module.css";

const POLL_MS = 5_000;
/** The services count each hour up to here. */
const MAX_COUNT = 1_000;

/** What an admin should know first, in one call. */
export function OverviewPage() {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(
    OverviewService.method.getOverview,
    { workspace },
    { refetchInterval: POLL_MS },
  );
  return (
    <Page title={OVERVIEW.title}>
      <div className={styles.overview}>
        {error && <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />}
        {data && (
          <>
            <AttentionList overview={data} />
            <FirstSteps overview={data} />
            <Day overview={data} />
          </>
        )}
      </div>
    </Page>
  );
}

function Day({ overview: { keys, tools, endpoints, chats } }: { overview: GetOverviewResponse }) {
  return (
    <Part title={OVERVIEW.day}>
      <div className={styles.charts}>
        <DayChart
          {...CHARTS.calls}
          firstHour={keys?.firstHour}
          counts={keys?.calls}
          to="/runs"
          search={{ entry: "api_key" }}
        />
        <DayChart
          {...CHARTS.errors}
          firstHour={tools?.firstHour}
          counts={tools?.failedRuns}
          maxCount={MAX_COUNT}
          to="/runs"
          search={{ outcome: "failed" }}
          tone="bad"
        />
        <DayChart
          {...CHARTS.deliveries}
          firstHour={endpoints?.firstHour}
          counts={endpoints?.deliveries}
          maxCount={MAX_COUNT}
          to="/webhooks/deliveries"
          search={{}}
        />
        <DayChart {...CHARTS.answers} firstHour={chats?.firstHour} counts={chats?.answers} maxCount={MAX_COUNT} />
      </div>
    </Part>
  );
}

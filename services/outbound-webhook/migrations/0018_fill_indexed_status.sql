-- Apart from the column, so that nothing waits for this: deliveries are claimed, finished and searched meanwhile.
update outbound_webhook.delivery set indexed_status = status where status in ('retrying', 'failed', 'cancelled');

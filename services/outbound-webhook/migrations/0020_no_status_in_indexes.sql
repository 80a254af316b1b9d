-- While processes of the last version run, their searches by status read all deliveries of the workspace.
drop index outbound_webhook.delivery_not_delivered;
drop index outbound_webhook.delivery_not_delivered_to;

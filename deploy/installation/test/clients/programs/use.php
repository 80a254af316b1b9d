<?php
require __DIR__ . "/vendor/autoload.php";

use OpenAPI\Client\{Api\DefaultApi, ApiException, Configuration};
use OpenAPI\Client\Model\{FindOrdersRequest, GreetArgs, GreetRequest};

$configuration = (new Configuration())->setAccessToken(getenv("SERVICE_API_KEY"));
$api = new DefaultApi(null, $configuration);
$request = fn ($name) => new GreetRequest(["args" => new GreetArgs(["name" => $name])]);
$greeted = $api->greet($request("Ada"));
$found = $api->findOrders(new FindOrdersRequest());
try {
    $api->greet($request(str_repeat("x", 30)));
} catch (ApiException $refused) {
    $body = $refused->getResponseObject();
    echo json_encode(["greeted" => $greeted, "found" => $found, "status" => $refused->getCode(), "refused" => $body]);
}

package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	openapi "github.com/example/client"
)

func main() {
	ctx := context.WithValue(context.Background(), openapi.ContextAccessToken, os.Getenv("SERVICE_API_KEY"))
	api := openapi.NewAPIClient(openapi.NewConfiguration()).DefaultAPI
	request := func(name string) openapi.ApiGreetRequest {
		request := openapi.NewGreetRequest(*openapi.NewGreetArgs(name))
		return api.Greet(ctx).GreetRequest(*request)
	}
	greeted, _, err := request("Ada").Execute()
	check(err)
	found, _, err := api.FindOrders(ctx).FindOrdersRequest(*openapi.NewFindOrdersRequest()).Execute()
	check(err)
	_, response, err := request(strings.Repeat("x", 30)).Execute()
	refused := err.(*openapi.GenericOpenAPIError).Model().(openapi.InvalidCall)
	seen := map[string]any{"greeted": greeted, "found": found, "status": response.StatusCode, "refused": refused}
	check(json.NewEncoder(os.Stdout).Encode(seen))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

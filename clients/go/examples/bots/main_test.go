package main

import (
	"context"
	"testing"
	"time"
)

func TestFiftyBotsSeeFiftyDots(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	worlds, dots, err := run(ctx)
	if err != nil || dots != bots || worlds < bots*10 {
		t.Fatal(worlds, dots, err)
	}
}

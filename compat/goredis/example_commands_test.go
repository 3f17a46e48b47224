package goredis_test

import (
	"context"
	"fmt"

	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/compat/goredis"
)

func ExampleAdapter_SMembers() {
	fmt.Println(goredis.NewAdapter(exampleClient).SMembers(context.Background(), "colours").Val())
	// Output: [red green]
}

func ExampleAdapter_SMembersMap() {
	fmt.Println(goredis.NewAdapter(exampleClient).SMembersMap(context.Background(), "colours").Val())
	// Output: map[green:{} red:{}]
}

func ExampleAdapter_SInter() {
	fmt.Println(goredis.NewAdapter(exampleClient).SInter(context.Background(), "colours", "warm").Val())
	// Output: [red]
}

func ExampleAdapter_SUnion() {
	fmt.Println(goredis.NewAdapter(exampleClient).SUnion(context.Background(), "colours", "warm").Val())
	// Output: [red green]
}

func ExampleAdapter_SDiff() {
	fmt.Println(goredis.NewAdapter(exampleClient).SDiff(context.Background(), "colours", "warm").Val())
	// Output: [green]
}

func ExampleAdapter_HGetAll() {
	fmt.Println(goredis.NewAdapter(exampleClient).HGetAll(context.Background(), "user:1").Val())
	// Output: map[born:1815 name:Ada]
}

func ExampleAdapter_HKeys() {
	fmt.Println(goredis.NewAdapter(exampleClient).HKeys(context.Background(), "user:1").Val())
	// Output: [name born]
}

func ExampleAdapter_HVals() {
	fmt.Println(goredis.NewAdapter(exampleClient).HVals(context.Background(), "user:1").Val())
	// Output: [Ada 1815]
}

func ExampleAdapter_LRange() {
	fmt.Println(goredis.NewAdapter(exampleClient).LRange(context.Background(), "numbers", 0, -1).Val())
	// Output: [12 30]
}

func ExampleAdapter_Keys() {
	fmt.Println(goredis.NewAdapter(exampleClient).Keys(context.Background(), "user:*").Val())
	// Output: [user:1 user:2]
}

func ExampleAdapter_Del() {
	fmt.Println(goredis.NewAdapter(exampleClient).Del(context.Background(), "a", "b").Val())
	// Output: 2
}

func ExampleAdapter_Unlink() {
	fmt.Println(goredis.NewAdapter(exampleClient).Unlink(context.Background(), "a", "b").Val())
	// Output: 2
}

func ExampleAdapter_Exists() {
	fmt.Println(goredis.NewAdapter(exampleClient).Exists(context.Background(), "a", "b").Val())
	// Output: 1
}

func ExampleAdapter_Touch() {
	fmt.Println(goredis.NewAdapter(exampleClient).Touch(context.Background(), "a", "b").Val())
	// Output: 2
}

func ExampleAdapter_XRange() {
	fmt.Println(goredis.NewAdapter(exampleClient).XRange(context.Background(), "log", "-", "+").Val())
	// Output: [{map[level:info] 1-0}]
}

func ExampleAdapter_XRangeN() {
	fmt.Println(goredis.NewAdapter(exampleClient).XRangeN(context.Background(), "log", "-", "+", 10).Val())
	// Output: [{map[level:info] 1-0}]
}

func ExampleAdapter_XRevRange() {
	fmt.Println(goredis.NewAdapter(exampleClient).XRevRange(context.Background(), "log", "+", "-").Val())
	// Output: [{map[level:info] 1-0}]
}

func ExampleAdapter_XRevRangeN() {
	fmt.Println(goredis.NewAdapter(exampleClient).XRevRangeN(context.Background(), "log", "+", "-", 10).Val())
	// Output: [{map[level:info] 1-0}]
}

func ExampleAdapter_Sort() {
	fmt.Println(goredis.NewAdapter(exampleClient).Sort(context.Background(), "numbers", rueidiscompat.Sort{Order: "ASC"}).Val())
	// Output: [1 2]
}

func ExampleAdapter_SortRO() {
	fmt.Println(goredis.NewAdapter(exampleClient).SortRO(context.Background(), "numbers", rueidiscompat.Sort{}).Val())
	// Output: [1 2]
}

func ExampleAdapter_SortInterfaces() {
	fmt.Println(goredis.NewAdapter(exampleClient).SortInterfaces(context.Background(), "numbers", rueidiscompat.Sort{}).Val())
	// Output: [1 2]
}

func ExampleAdapter_ZDiff() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZDiff(context.Background(), "scores", "banned").Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZDiffWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZDiffWithScores(context.Background(), "scores", "banned").Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_ZRange() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRange(context.Background(), "scores", 0, -1).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZRangeWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRangeWithScores(context.Background(), "scores", 0, -1).Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_ZRangeByScore() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRangeByScore(context.Background(), "scores", rueidiscompat.ZRangeBy{Min: "-inf", Max: "+inf"}).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZRangeByScoreWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRangeByScoreWithScores(context.Background(), "scores", rueidiscompat.ZRangeBy{Min: "-inf", Max: "+inf"}).Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_ZRangeByLex() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRangeByLex(context.Background(), "scores", rueidiscompat.ZRangeBy{Min: "-", Max: "+"}).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZRevRange() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRevRange(context.Background(), "scores", 0, -1).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZRevRangeWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRevRangeWithScores(context.Background(), "scores", 0, -1).Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_ZRevRangeByScore() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRevRangeByScore(context.Background(), "scores", rueidiscompat.ZRangeBy{Min: "-inf", Max: "+inf"}).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZRevRangeByScoreWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRevRangeByScoreWithScores(context.Background(), "scores", rueidiscompat.ZRangeBy{Min: "-inf", Max: "+inf"}).Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_ZRevRangeByLex() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRevRangeByLex(context.Background(), "scores", rueidiscompat.ZRangeBy{Min: "-", Max: "+"}).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZRangeArgs() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRangeArgs(context.Background(), rueidiscompat.ZRangeArgs{Key: "scores", Start: 0, Stop: -1}).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZRangeArgsWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZRangeArgsWithScores(context.Background(), rueidiscompat.ZRangeArgs{Key: "scores", Start: 0, Stop: -1}).Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_ZInter() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZInter(context.Background(), rueidiscompat.ZStore{Keys: []string{"scores", "others"}}).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZInterWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZInterWithScores(context.Background(), rueidiscompat.ZStore{Keys: []string{"scores", "others"}}).Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_ZUnion() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZUnion(context.Background(), rueidiscompat.ZStore{Keys: []string{"scores", "others"}}).Val())
	// Output: [alice bob]
}

func ExampleAdapter_ZUnionWithScores() {
	fmt.Println(goredis.NewAdapter(exampleClient).ZUnionWithScores(context.Background(), rueidiscompat.ZStore{Keys: []string{"scores", "others"}}).Val())
	// Output: [{alice 1} {bob +Inf}]
}

func ExampleAdapter_FieldsIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).FieldsIterator(ctx, "user:1")
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: name Ada <nil>
}

func ExampleAdapter_ScoresIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).ScoresIterator(ctx, "scores")
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: alice 1 bob inf <nil>
}

func ExampleAdapter_ElementsIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).ElementsIterator(ctx, "numbers")
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: 12 30 <nil>
}

func ExampleAdapter_KeysIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).KeysIterator(ctx, "user:*")
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: user:1 user:2 <nil>
}

func ExampleAdapter_ScanIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).ScanIterator(ctx, 0, "user:*", 100)
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: user:1 user:2 <nil>
}

func ExampleAdapter_ScanTypeIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).ScanTypeIterator(ctx, 0, "user:*", 100, "hash")
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: user:1 user:2 <nil>
}

func ExampleAdapter_SScanIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).SScanIterator(ctx, "colours", 0, "", 100)
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: red green <nil>
}

func ExampleAdapter_HScanIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).HScanIterator(ctx, "user:1", 0, "", 100)
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: name Ada <nil>
}

func ExampleAdapter_HScanNoValuesIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).HScanNoValuesIterator(ctx, "user:1", 0, "", 100)
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: name Ada <nil>
}

func ExampleAdapter_ZScanIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).ZScanIterator(ctx, "scores", 0, "", 100)
	defer it.Close()
	for it.Next(ctx) {
		fmt.Print(it.Val(), " ")
	}
	fmt.Println(it.Err())
	// Output: alice 1 <nil>
}

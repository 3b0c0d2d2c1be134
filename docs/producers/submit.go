// Submits a job of the app demo, with the device tokens of the arguments:
//
//	REDIS_URL=redis://127.0.0.1:6379 go run submit.go TOKEN...
//
// Needs the module github.com/gomodule/redigo (Debian: golang-github-gomodule-redigo-dev, with GO111MODULE=off and
// GOPATH=/usr/share/gocode).
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/gomodule/redigo/redis"
)

var notNow = regexp.MustCompile("^(OOM|LOADING|READONLY|MISCONF)")

// Returns "OK" or "DUPLICATE" after Redis has the job. Waits while the farm is busy or Redis cannot be reached.
func submit(farm *redis.Pool, app, id string, job map[string]any) (string, error) {
	job["id"] = id
	text, err := json.Marshal(job)
	if err != nil {
		return "", err
	}
	for {
		status, number, reason := "BUSY", 1000, ""
		reply, err := call(farm, "FCALL", "pushfarm_submit", 1, "pushfarm:"+app, text, id)
		if err == nil {
			if _, err = redis.Scan(reply, &status, &number, &reason); err != nil {
				return "", err
			}
		} else if e := redis.Error(""); errors.As(err, &e) && !notNow.MatchString(string(e)) {
			return "", err
		} // Else Redis cannot write now, or the connection is lost.
		switch status {
		case "OK", "DUPLICATE":
			return status, nil
		case "REFUSED":
			return "", errors.New(reason)
		}
		time.Sleep(time.Duration(number) * time.Millisecond)
	}
}

func call(farm *redis.Pool, command string, arguments ...any) ([]any, error) {
	connection := farm.Get()
	defer connection.Close()
	return redis.Values(connection.Do(command, arguments...))
}

func main() {
	url := os.Getenv("REDIS_URL")
	if url == "" {
		url = "redis://127.0.0.1:6379"
	}
	farm := &redis.Pool{Dial: func() (redis.Conn, error) { return redis.DialURL(url) }}
	status, err := submit(farm, "demo", "order-4711", map[string]any{
		"tokens":  os.Args[1:],
		"payload": map[string]any{"aps": map[string]any{"alert": "Hello"}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(status)
}

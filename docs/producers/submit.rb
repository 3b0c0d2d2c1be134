# Submits a job of the app demo, with the device tokens of the arguments:
#     REDIS_URL=redis://127.0.0.1:6379 ruby submit.rb TOKEN...
# Needs the gem redis (Debian: ruby-redis).
require "json"
require "redis"

# Returns "OK" or "DUPLICATE" after Redis has the job. Waits while the farm is busy or Redis cannot be reached.
def submit(farm, app, job)
  text = JSON.generate(job)
  loop do
    begin
      status, number, reason = farm.call("FCALL", "pushfarm_submit", 1, "pushfarm:#{app}", text, job[:id])
    rescue Redis::BaseConnectionError
      status, number = "BUSY", 1000
    rescue Redis::CommandError => error
      raise unless error.message.match?(/\A(OOM|LOADING|READONLY|MISCONF)/)
      status, number = "BUSY", 1000
    end
    return status if %w[OK DUPLICATE].include?(status)
    raise ArgumentError, reason if status == "REFUSED"
    sleep number / 1000.0
  end
end

farm = Redis.new(url: ENV.fetch("REDIS_URL", "redis://127.0.0.1:6379"))
puts submit(farm, "demo", { id: "order-4711", tokens: ARGV, payload: { aps: { alert: "Hello" } } })

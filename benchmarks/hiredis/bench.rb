# What redis-rb takes for the commands of the benchmark, with the driver that is its third argument (ruby or hiredis). It answers the
# same lines as bench.c in the same form.
require "json"
require "redis"
require "zlib"

host, port, driver = ARGV
redis = Redis.new(host: host, port: port.to_i, driver: driver.to_sym, timeout: 60)
redis.ping
loaded = driver == "hiredis" ? " with hiredis #{Gem.loaded_specs['hiredis']&.version || Gem::Specification.find_by_name('hiredis').version}" : ""
puts "redis-rb #{Redis::VERSION}#{loaded}, Ruby #{RUBY_VERSION}"
$stdout.flush

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

while (line = $stdin.gets)
  what, key, limit = line.split
  limit = limit.to_i
  times = 0
  elements = bytes = sum = took = 0
  start = now
  loop do
    list = what == "json" ? JSON.parse(redis.get(key)) : redis.smembers(key)
    elements = list.length
    bytes = 0
    list.each { |m| bytes += m.bytesize }
    sum = limit.zero? ? list.sum { |m| Zlib.crc32(m) } : 0
    times += 1
    took = now - start
    break if took >= limit
  end
  peak = File.exist?("/proc/self/status") ? File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1].to_i * 1024 : 0
  puts "#{times} #{took} #{elements} #{bytes} #{sum} #{peak}"
  $stdout.flush
end

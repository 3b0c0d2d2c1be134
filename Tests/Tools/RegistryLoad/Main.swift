import Foundation

/// `registry-load [devices=N] [tags=N] [zones=N] [languages=N] [take=N] [again=N]` fills a registry in a private Redis, and prints
/// Redis's processor time for each registration and the bytes of each device.
///
/// Devices have ids of 16 bytes, APNs tokens of 32 bytes, users of 8 bytes (two devices a user), and five tags each. Tags, zones
/// and languages are unevenly distributed: the n-th is n times rarer than the first. After that, `again` of these devices are
/// registered once more, with new tokens. Each call registers `take` devices.
@main
enum Main {
    static func main() throws {
        var words: [String: Int] = [:]
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let number = Int(parts[1]), number >= 0 else {
                print("not a number: \(argument)")
                exit(2)
            }
            words[parts[0]] = number
        }
        let devices = words["devices", default: 1_000_000]
        let take = max(1, words["take", default: 1_000])
        let population = DevicePopulation(
            tags: words["tags", default: 20], zones: words["zones", default: 1],
            languages: words["languages", default: 1])
        let load = try RegistryLoad()
        func measure(_ title: String, _ count: Int, _ input: (Int) -> DevicePopulation.Device) throws {
            let before = try load.usage()
            for start in stride(from: 0, to: count, by: take) {
                try load.apply((start..<min(start + take, count)).map { population.input(input($0)) })
            }
            let used = try load.usage() - before
            print(title)
            print(
                "  Redis:   "
                    + String(format: "%5.1f µs of the processor each", used.redis / Double(max(1, count))))
            print(
                "  planner: "
                    + String(format: "%5.1f µs of the processor each", used.planner / Double(max(1, count))))
            print(
                "  memory:  " + String(format: "%5.1f bytes each", Double(used.bytes) / Double(max(1, count)))
            )
        }
        try measure("\(devices) new devices", devices) { .init(number: $0, token: $0) }
        for (kind, bytes) in try load.bytesByKind() {
            print("    \(kind): " + String(format: "%.1f", Double(bytes) / Double(max(1, devices))))
        }
        let again = min(devices, words["again", default: 100_000])
        try measure("\(again) new tokens of known devices", again) {
            .init(number: $0 * 7 % devices, token: devices + $0)
        }
    }
}

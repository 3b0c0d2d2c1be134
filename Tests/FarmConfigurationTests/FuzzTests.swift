import RandomTesting
import Testing

@testable import FarmConfiguration

struct FuzzTests {
    /// Pieces of text that have a special meaning in YAML, in JSON or in the farm's own parsers.
    private static let pieces = [
        "{", "}", "[", "]", ":", ": ", ",", "- ", "\n", "\n  ", "\t", "#", "&a ", "*a", "!!int ", "|\n",
        ">\n", "'",
        "\"", "\\u00", "~", "null", "true", "0x7", "1e9", "-1", "99999999999999999999", "...", "---\n",
        "%YAML 1.1\n",
        "redis://", "rediss://a:b@", "unix://", "https://[", "]:", "@", "%zz", "apps:", "key:", "\u{0}", "ü",
        "💥",
        "\u{FEFF}", "? ", "<<: ",
    ]

    @Test(arguments: 1...8) func `a mutated file is read or refused without a crash`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        for _ in 0..<400 {
            var bytes = Array(sample.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let source = Int.random(in: 0...bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes.insert(contentsOf: Self.pieces.randomElement(using: &random)!.utf8, at: source)
                case 1:
                    bytes.removeSubrange(
                        source..<min(bytes.count, source + Int.random(in: 0...20, using: &random)))
                case 2 where source < bytes.count: bytes[source] = UInt8.random(in: 0...127, using: &random)
                default:
                    let end = min(bytes.count, source + Int.random(in: 0...60, using: &random))
                    bytes.insert(contentsOf: Array(bytes[source..<end]), at: source)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            do {
                let farm = try read(text)
                #expect((1...1024).contains(farm.shards))
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test(arguments: 1...4) func `mutated variables and flags are read or refused`(seed: UInt64) {
        var random = SplitMix(seed: seed)
        let names = [
            "WORKERS", "APPS_DEMO_TOPIC", "APPS__KEY_FILE", "APPS_", "", "LOG_LEVEL", "REDIS", "APPS_X_PROXY",
        ]
        for _ in 0..<400 {
            let value = (0..<3).map { _ in Self.pieces.randomElement(using: &random)! }.joined()
            let name = names.randomElement(using: &random)!
            let flag = ["workers", "apps.", "apps..topic", "apps.a.b.key.id", "", "redis"].randomElement(
                using: &random)!
            do {
                _ = try read(sample, ["PUSHFARM_" + name: value])
            } catch {
                #expect(!error.description.isEmpty)
            }
            do {
                _ = try read(sample, [:], [Override(key: flag, text: value, flag: "--set")])
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }
}

import FarmPolicy
import Testing

/// The stored form of the desired state.
struct DesiredWorkersTests {
    @Test(
        arguments: [
            (2, 8 << 30, 2, 16), (1, 8 << 30, 1, 8), (4, 1 << 30, 2, 16), (64, 512 << 20, 2, 8),
            (64, 512 << 20, 12, 12),
            (128, 1 << 40, 4, 256), (2, 0, 2, 16), (2, 8 << 30, 100, 100), (2, 8 << 30, 300, 256),
            (0, 1, 1, 1),
            (.max, .max, 1, 256),
        ] as [(Int, UInt64, Int, Int)])
    func `the processors and the configuration give the number of workers`(
        processors: Int, memory: UInt64, configured: Int, most: Int
    ) {
        #expect(DesiredWorkers.most(processors: processors, memory: memory, configured: configured) == most)
    }

    @Test(arguments: [("4", DesiredWorkers.fixed(4)), ("auto", .auto)])
    func `reads a desired number of workers`(
        text: String, desired: DesiredWorkers
    ) {
        #expect(DesiredWorkers(text) == desired && desired.text == text)
    }

    @Test(arguments: ["", "0", "-1", "many", "4.5", "Auto"]) func `refuses an invalid number of workers`(
        text: String
    ) {
        #expect(DesiredWorkers(text) == nil)
    }

    @Test func `pins are distinguished from other desired state`() {
        let pins = Pins([
            "pin:demo:7": "beta", "scale:alpha": "4", "pin:demo:x": "a", "pin:7": "b", "pin:mail:0": "c",
        ])
        #expect(pins.of("demo") == [7: "beta"] && pins.of("mail") == [0: "c"] && pins.of("news").isEmpty)
        #expect(Pins([Pins.name(app: "demo", shard: 12): "x"]).of("demo") == [12: "x"])
    }

    @Test(arguments: [
        ("0", "workers: at least 1, not 0"),
        (
            "+9223372036854775807",
            "workers: +9223372036854775807 is beyond what is allowed; this machine supports at most 16"
        ),
        (
            "99999999999999999999",
            "workers: 99999999999999999999 is beyond what is allowed; this machine supports at most 16"
        ), ("many", "workers: N, +N, -N, auto or default, not many"),
        ("", "workers: N, +N, -N, auto or default, not "),
    ])
    func `an invalid number of workers has a reason`(text: String, says: String) {
        #expect(DesiredWorkers.problem(text, most: 16) == says)
    }
}

import FarmBench
import PushModel
import Testing

struct HotPathTests {
    /// A callgrind file. A function's name is written only once, with a number that later lines use.
    /// The line after `calls=` has the cost of the called function.
    private static let text = """
        # callgrind format
        version: 1
        pid: 10250
        cmd:  pushfarm worker 0
        desc: Timerange: Basic block 0 - 390431851
        positions: line
        events: Ir
        summary: 9999

        ob=(11) /usr/lib/libnghttp2.so.14.24.1
        fl=(174) ???
        fn=(36662) 0x0000000000007ac0
        0 22
        cob=(3) /usr/lib/libc.so.6
        cfi=(162) ./malloc/malloc.c
        cfn=(1284) free
        calls=1 0 
        0 1335
        0 19

        fn=(36700) nghttp2_session_mem_recv
        12 100
        +3 5
        * 1
        fn=(36701) nghttp2_session_mem_recv'2
        0 10

        ob=(3)
        fl=(162)
        fn=(1284)
        0 7
        ob=(1) /tmp/pushfarm
        fn=(5) $s6Worker6WindowC
        0 1000
        totals: 9999
        """

    @Test func `a profile sums the instructions of functions without their calls`() {
        let profile = CallgrindProfile(Self.text)
        func count(_ object: String, _ name: String?) -> Int? {
            profile.counts[CallgrindProfile.Function(object: object, name: name)]
        }
        #expect(count("libnghttp2.so.14.24.1", nil) == 41)
        #expect(count("libnghttp2.so.14.24.1", "nghttp2_session_mem_recv") == 116)
        #expect(count("libc.so.6", "free") == 7 && count("pushfarm", "$s6Worker6WindowC") == 1_000)
        #expect(profile.total == 1_164 && profile.counts.count == 4)
    }

    @Test func `chosen functions can be excluded with everything that they call`() {
        let profile = CallgrindProfile(Self.text, leavingOut: ["free"])
        #expect(profile.leftOut == 1_335 && profile.total == 1_164 - 1_335)
        #expect(CallgrindProfile(Self.text, leavingOut: ["fre "]).leftOut == 0)
        #expect((profile - CallgrindProfile(Self.text)).total == -1_335)
    }

    private func figure(_ counts: [String: Int], pushes: Int = 10) -> HotPathFigure {
        let pairs = counts.map { (CallgrindProfile.Function(object: "pushfarm", name: $0.key), $0.value) }
        return HotPathFigure(
            CallgrindProfile(counts: Dictionary(uniqueKeysWithValues: pairs)), pushes: pushes,
            versions: ["openssl": "3"])
    }

    @Test func `the difference of two runs excludes the cost of the start`() {
        let (few, many) = (figure(["start": 500, "push": 80]), figure(["start": 500, "push": 400]))
        #expect(few.instructions == 58 && many.instructions == 90)
        let name = CallgrindProfile.Function(object: "pushfarm", name: "push")
        let start = CallgrindProfile.Function(object: "pushfarm", name: "start")
        let small = CallgrindProfile(counts: [start: 500, name: 80])
        let large = CallgrindProfile(counts: [start: 500, name: 400])
        #expect(HotPathFigure(large - small, pushes: 32, versions: [:]).instructions == 10)
    }

    @Test(arguments: [(104_900, true), (104_990, true), (105_100, false), (90_000, true)])
    func `growth of more than five percent is too much`(count: Int, isGood: Bool) {
        let report = HotPathReport(figure(["push": count]), before: figure(["push": 100_000]))
        #expect(report.isGood == isGood)
    }

    @Test func `a report without a recorded count is not good`() {
        let report = HotPathReport(figure(["push": 1]), before: nil)
        #expect(!report.isGood && report.lines.last?.contains("RECORD=1") == true)
    }

    @Test func `a report lists grown functions, the worst first, and changed versions`() {
        var before = figure(["a": 50_000, "b": 40_000, "c": 10_000])
        before.versions = ["openssl": "2"]
        let now = figure(["a": 52_000, "b": 40_050, "c": 9_000, "new": 6_000])
        #expect(now.grown(since: before).map(\.name) == ["new", "a"])
        let lines = HotPathReport(now, before: before).lines.map { line in
            line.split(separator: " ").joined(separator: " ")
        }
        #expect(lines.contains("0 → 600 new") && lines.contains("5,000 → 5,200 a"))
        #expect(lines.contains("not the same: openssl 3, recorded with 2"))
        #expect(lines.contains("+7.05 % since 10,000 were recorded"))
    }

    @Test(arguments: [
        ("libcrypto.so.3", "", Part.tls), ("pushfarm", "$s3TLS10TLSSessionV", .tls),
        ("libnghttp2.so.14", "nghttp2_x", .http), ("pushfarm", "$s5HTTP211HeaderBlockC", .http),
        ("pushfarm", "$s11RedisClient8AppStoreC", .redis), ("pushfarm", "redisReaderFeed", .rest),
        ("libhiredis.so.0.14", "redisReaderFeed", .redis), ("pushfarm", "$s6Worker6WindowC", .batch),
        ("pushfarm", "$s9PushModel5BatchV", .batch), ("pushfarm", "$s4APNs11HexadecimalO", .push),
        ("pushfarm", "$s7Gateway12PushExchangeC", .push), ("libuv.so.1", "uv__io_poll", .loop),
        ("pushfarm", "$s9Transport10ByteStreamC", .loop), ("pushfarm", "swift_beginAccess", .runtime),
        ("pushfarm", "$sSayxGSmsMc", .runtime), ("libc.so.6", "_int_malloc", .memory),
        ("libc.so.6", "__memcpy_avx_unaligned_erms", .memory), ("libc.so.6", "strtol", .rest),
        ("[kernel.kallsyms]", "tcp_sendmsg", .kernel), ("pushfarm", "main", .rest),
    ])
    func `every function belongs to a part`(object: String, symbol: String, part: Part) {
        #expect(Part(object: object, symbol: symbol) == part)
    }
}

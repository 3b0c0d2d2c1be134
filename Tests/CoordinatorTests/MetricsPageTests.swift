import FarmPolicy
import Testing

@testable import Coordinator

struct MetricsPageTests {
    @Test func `each number has a name and a description`() {
        var page = MetricsPage()
        page.add("a_total", "How many.", 3, ["app": "x", "lane": "high"])
        page.add("b", "How much.", 0.5)
        page.add("a_total", "How many.", 1, ["app": "y", "lane": "high"])
        #expect(
            page.text == """
                # HELP a_total How many.
                # TYPE a_total counter
                a_total{app="x",lane="high"} 3
                a_total{app="y",lane="high"} 1
                # HELP b How much.
                # TYPE b gauge
                b 0.5

                """)
    }

    @Test func `values with equal labels are added up`() {
        var page = MetricsPage()
        for _ in 0..<3 { page.add("a_total", "A.", 2, ["app": "other"]) }
        #expect(page.text.hasSuffix("a_total{app=\"other\"} 6\n"))
    }

    @Test func `the buckets of a histogram are cumulative`() {
        var (page, counts) = (MetricsPage(), LatencyCounts())
        counts.add(1)
        counts.add(2, times: 2)
        counts.add(900)
        page.add("t_seconds", "T.", ["app": "x"], counts, bounds: 3)
        #expect(
            page.text == """
                # HELP t_seconds T.
                # TYPE t_seconds histogram
                t_seconds_bucket{app="x",le="0.001"} 1
                t_seconds_bucket{app="x",le="0.002"} 3
                t_seconds_bucket{app="x",le="0.004"} 3
                t_seconds_bucket{app="x",le="+Inf"} 4
                t_seconds_sum{app="x"} 0.905
                t_seconds_count{app="x"} 4

                """)
    }

    @Test func `label values are escaped`() {
        var page = MetricsPage()
        page.add("a", "A.", 1, ["x": "q\"b\\n\nl"])
        #expect(page.text.hasSuffix("a{x=\"q\\\"b\\\\n\\nl\"} 1\n"))
    }

    @Test(arguments: [
        ("BadDeviceToken", "BadDeviceToken"), ("suppressed", "suppressed"), ("InvalidToken", "InvalidToken"),
        ("ClosedWithoutReply", "ClosedWithoutReply"), ("Status77", "other"), ("whatever", "other"),
        ("", "other"),
    ])
    func `only known reasons have a label`(reason: String, name: String) {
        #expect(MetricReasons.name(reason) == name)
    }
}

import FarmBench
import Testing

struct PerfSharesTests {
    @Test func `samples are summed by part`() {
        let shares = PerfShares(
            """
            # Total Lost Samples: 0
            # Overhead|Shared Object|Symbol
                25.00%|libnghttp2.so.14.24.1|[.] 0x0000000000019530
                 5.00%|libnghttp2.so.14.24.1|[.] 0x0000000000019537
                20.00%|pushfarm             |[.] $s5HTTP211HeaderBlockC7presentSRySo10nghttp2_nvaGvg
                20.00%|[kernel.kallsyms]    |[k] tcp_sendmsg_locked
                10.00%|libcrypto.so.3       |[.] aes_gcm

            """)
        #expect(shares.parts == [.http: 0.625, .kernel: 0.25, .tls: 0.125])
        #expect(shares.functions.first?.name == "without a name" && shares.functions.first?.share == 0.375)
        #expect(shares.functions.count == 4 && PerfShares("").parts.isEmpty)
    }
}

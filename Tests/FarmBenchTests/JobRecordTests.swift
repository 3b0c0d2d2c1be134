import FarmBench
import Testing

struct JobRecordTests {
    private func jobRecord(_ jobs: [[String]]) -> BenchJobRecord {
        var jobRecord = BenchJobRecord()
        for job in jobs { jobRecord.add(job) }
        return jobRecord
    }

    private let good = [["finished", "600", "600", "", "7000"], ["finished", "400", "400", "", "6000"]]

    @Test func `a correct sum has no complaints, and ends with the last job`() {
        let sum = jobRecord(good)
        #expect(sum.complaints(pushes: 1_000, atGateway: 1_000, distinct: 1_000).isEmpty)
        #expect(sum.finishedAt == 7_000)
    }

    @Test(arguments: [(1_000, 999, 1_000), (1_000, 1_001, 1_000), (1_001, 1_001, 1_001), (1_000, 1_000, 999)])
    func `a missing or extra push is reported`(pushes: Int, atGateway: Int, distinct: Int) {
        #expect(!jobRecord(good).complaints(pushes: pushes, atGateway: atGateway, distinct: distinct).isEmpty)
    }

    @Test(arguments: [
        ["open", "400", "399", "", ""], [], ["finished", "399", "399", "", "1"],
        ["finished", "400", "399", "", "1"],
        ["finished", "400", "400", "1", "1"],
    ])
    func `a job with wrong counts is reported`(job: [String]) {
        #expect(!jobRecord([good[0], job]).complaints(pushes: 1_000, atGateway: 1_000).isEmpty)
    }
}

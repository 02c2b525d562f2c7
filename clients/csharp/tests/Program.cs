using System;
using System.Collections.Generic;
using System.IO;
using NUnit.Framework.Api;
using NUnit.Framework.Interfaces;
using NUnit.Framework.Internal;

namespace Skipstone.Tests
{
    // Runs every test of this assembly with NUnit's own runner, which needs no test platform, on Mono and on .NET.
    // Command-line arguments select the tests whose names contain one of them.
    internal sealed class Program : ITestListener
    {
        private readonly TextWriter output = Console.Out;

        private static int Main(string[] words)
        {
            var runner = new NUnitTestAssemblyRunner(new DefaultTestAssemblyBuilder());
            runner.Load(typeof(Program).Assembly, new Dictionary<string, object> { { "NumberOfTestWorkers", 0 } });
            var program = new Program();
            program.output.WriteLine("on " + Environment.Version + ", " + (Type.GetType("Mono.Runtime") == null ? ".NET" : "Mono"));
            ITestResult result = runner.Run(program, new Chosen(words));
            // The same last line as cargo's test programs.
            program.output.WriteLine("test result: {0}. {1} passed; {2} failed; {3} ignored;", result.FailCount == 0 ? "ok" : "FAILED",
                result.PassCount, result.FailCount, result.SkipCount + result.InconclusiveCount);
            return result.FailCount == 0 && result.PassCount > 0 ? 0 : 1;
        }

        public void TestStarted(ITest test) { }
        public void TestOutput(TestOutput text) => output.Write(text.Text);
        public void SendMessage(TestMessage message) { }

        public void TestFinished(ITestResult result)
        {
            if (result.HasChildren || result.Test.IsSuite) return;
            string word = result.ResultState.Status == TestStatus.Passed ? "ok" : result.ResultState.Status.ToString().ToUpperInvariant();
            output.WriteLine("test {0}.{1} ... {2}", result.Test.ClassName?.Replace("Skipstone.Tests.", ""), result.Test.Name, word);
            if (!string.IsNullOrEmpty(result.Output)) output.WriteLine(result.Output.TrimEnd());
            if (word != "ok") output.WriteLine(result.Message + "\n" + result.StackTrace);
        }

        private sealed class Chosen : TestFilter
        {
            private readonly string[] words;

            internal Chosen(string[] words) => this.words = words;

            public override bool Match(ITest test) => words.Length == 0 || Array.Exists(words, word => test.FullName.Contains(word));

            public override TNode AddToXml(TNode parentNode, bool recursive) => throw new NotSupportedException();
        }
    }
}
